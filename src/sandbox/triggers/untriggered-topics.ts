/** The topics that no fixture causes, each with the reason. */
export const untriggeredTopics: Readonly<Record<string, string>> = {
  'challenges.setSecurityQuestions': 'The platform does not send it.',
  travelRule: 'The platform does not send it.',
  rampSession: 'The platform does not send it.',
}
