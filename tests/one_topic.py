"""A talk that keeps to one thing, a turn a line."""

APPLES = """I bought a bag of apples at the market.
Which apples did you get at the market?
Mostly Elstar apples, and a few sour Granny Smith apples.
Granny Smith apples are the best apples for a pie.
Then I will bake an apple pie with the sour apples.
Put some cinnamon on the apples before you bake the pie.
Should I peel the apples for the pie?
Yes, peel the apples and cut them into thin slices.
The apple pie is in the oven and it smells good.
Eat the apple pie warm, with cream.""".splitlines()
