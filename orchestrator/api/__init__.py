"""Floor 7: doors. AWS's wire protocol, so that programs written for Step Functions run unchanged.

Knows requests and answers, error names and paging tokens. Waits without threads; asks the facade
in a pool of them. Knows neither the engine nor any database.
"""
