/** Whether a list of addresses, and of domains such as `*@example.com`, has an address. All are in lower case. */
export const isListedEmail = (listed: readonly string[], email: string): boolean =>
  listed.includes(email) || listed.includes(email.replace(/^.*@/, '*@'))
