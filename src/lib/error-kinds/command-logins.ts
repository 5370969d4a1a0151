/** Errors of logins by command-line tools, and of the command that serves such tools. */
export const commandLoginErrorKinds = {
  sealedBodyRefused: {
    code: 178131,
    status: 400,
    text: 'The sealed body does not open: seal it with the key of the token that comes with it.',
  },
  approvesOnPage: {
    code: 178132,
    status: 403,
    text: 'This user approves on the page of users: here approves only a user whose login opens the key.',
  },
  proxyOperationUnknown: {
    code: 178133,
    status: 404,
    text: 'The proxy has no such operation: docs/circle-cli.md lists the commands that work.',
  },
  proxyAddressRefused: {
    code: 178134,
    status: 403,
    text: 'This address may not log in here: bezant agent-proxy --emails lists those that may.',
  },
  proxyServerAway: {
    code: 178135,
    status: 502,
    text: 'The server behind the proxy does not answer: try again in a moment.',
  },
} as const
