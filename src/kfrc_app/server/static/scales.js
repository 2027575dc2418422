// Answers whose order everybody knows, so that they need not be put in order by hand.

const SCALES = [
  ["very low", "low", "medium", "high", "very high"],
  ["very low", "low", "moderate", "average", "high", "very high"],
  ["never", "almost never", "rarely", "seldom", "sometimes", "occasionally", "often", "usually", "very often", "almost always", "always"],
  ["strongly disagree", "disagree", "somewhat disagree", "neither agree nor disagree", "neutral", "undecided", "somewhat agree", "agree", "strongly agree"],
  ["very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"],
  ["very unlikely", "unlikely", "neutral", "likely", "very likely"],
  ["not at all", "a little", "somewhat", "quite a bit", "very much", "extremely"],
  ["none", "mild", "moderate", "severe", "very severe"],
  ["very poor", "very bad", "poor", "bad", "fair", "average", "good", "very good", "excellent"],
  ["xxs", "xs", "s", "m", "l", "xl", "xxl"],
  ["tiny", "small", "medium", "large", "huge"],
  ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
];

export function inOrder(levels) {
  const place = (scale, level) => scale.indexOf(level.trim().toLowerCase());
  const scale = SCALES.find((each) => levels.every((level) => place(each, level) >= 0));
  return scale ? [...levels].sort((a, b) => place(scale, a) - place(scale, b)) : levels;
}
