"""What each state type does: one file per type, with enter() and, where it rests, resume().

Knows the states and how a transition moves them. Knows no event of the outside but those of tasks.
"""
