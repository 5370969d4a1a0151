/** Logins by command-line tools, whose users keep no secret: the login opens their key. */

export { newDeviceSecret } from './device-secret.ts'
export { isListedEmail } from './listed-emails.ts'
export { readCommandApproval } from './read-approval.ts'
export { openJson, sealText } from './sealed-text.ts'
export { opensByLogin, userOfCommandLogin } from './users.ts'
