"""`driftfold study`: a paper's experiments, run or resumed, and reported claim by claim."""
