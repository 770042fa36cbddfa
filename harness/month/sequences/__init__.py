"""What one step of somebody's work puts on the bus, the noise around it included.

Every function appends its transitions to the draft in a fixed order and at fixed distances from
an anchor. Ids that noise carries are drawn from the noise identifier stream right before.
"""
