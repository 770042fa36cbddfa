"""The packaged price list."""

from decimal import Decimal

from harness.pricing import Kind, packaged, parse, read


def test_the_packaged_version_prices_what_the_list_says():
    model = read("2026-03")
    assert packaged() == ("2026-03",)
    assert (model.version, model.currency) == ("2026-03", "EUR")
    assert model.valid_from == 1772323200 * 1_000_000
    prices = {
        (platform, kind, dimension.metric): (dimension.kind, str(dimension.price))
        for (platform, kind), tariff in model.tariffs.items()
        for dimension in tariff.dimensions
    }
    gauge, counter = Kind.TIME_GAUGE, Kind.COUNTER
    assert prices == {
        ("openstack", "instance", "vcpus"): (gauge, "0.02"),
        ("openstack", "instance", "ram_gb"): (gauge, "0.005"),
        ("openstack", "instance", "disk_gb"): (gauge, "0.001"),
        ("openstack", "instance", "egress_gb"): (counter, "0.09"),
        ("openstack", "volume", "size_gb"): (gauge, "0.0001"),
        ("openstack", "floating_ip", "count"): (gauge, "0.005"),
        ("hetzner", "server", "vcpus"): (gauge, "0.015"),
        ("hetzner", "server", "ram_gb"): (gauge, "0.004"),
        ("hetzner", "server", "disk_gb"): (gauge, "0.0008"),
        ("stackit", "server", "vcpus"): (gauge, "0.025"),
        ("stackit", "server", "ram_gb"): (gauge, "0.006"),
        ("stackit", "server", "disk_gb"): (gauge, "0.0012"),
        ("ionos", "server", "cores"): (gauge, "0.022"),
        ("ionos", "server", "ram_gb"): (gauge, "0.005"),
        ("gardener", "shoot", "worker_count"): (gauge, "0.10"),
        ("harbor", "repository", "storage_gb"): (gauge, "0.00005"),
        ("harbor", "repository", "egress_gb"): (counter, "0.12"),
        ("harbor", "repository", "pulls"): (counter, "0.0"),
    }


def test_modifiers():
    tariffs = read("2026-03").tariffs
    half, zero = Decimal("0.5"), Decimal(0)
    assert tariffs["openstack", "instance"].state_modifiers == {"shelved": zero, "shutoff": half}
    assert tariffs["openstack", "volume"].type_modifiers == {"ssd": 1, "hdd": half}
    assert tariffs["hetzner", "server"].state_modifiers == {"off": half}
    assert tariffs["gardener", "shoot"].state_modifiers == {"hibernated": zero}
    assert tariffs["openstack", "floating_ip"].state_modifiers == {}
    assert read("2026-03").tariff("openstack", "image") is None
    assert read("2026-03").tariff("openstack", "loadbalancer") is None


def test_a_document_reads_back_as_the_same_model():
    model = read("2026-03")
    assert parse(model.document()) == model
