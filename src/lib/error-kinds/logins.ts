/** Errors of logins: devices, mailed codes and social providers. */
export const loginErrorKinds = {
  otpTokenExpired: {
    code: 155130,
    status: 400,
    text: 'The token of the code has expired: ask for another code.',
  },
  otpTokenInvalid: {
    code: 155131,
    status: 400,
    text: 'The token of the code is invalid, or the code was used.',
  },
  otpInvalid: { code: 155133, status: 400, text: 'The code is invalid.' },
  otpMismatch: { code: 155134, status: 400, text: 'The code does not match.' },
  emailInvalid: { code: 155135, status: 400, text: 'The e-mail address is invalid.' },
  emailMismatch: { code: 155136, status: 400, text: 'The e-mail address does not match.' },
  deviceIdInvalid: { code: 155137, status: 400, text: 'The device id is invalid.' },
  socialTokenExpired: {
    code: 155139,
    status: 400,
    text: 'The token of the provider has expired: let the user log in there again.',
  },
  socialTokenInvalid: {
    code: 155140,
    status: 400,
    text: 'The token is not valid for this app: its provider did not issue it to the app, or it was used.',
  },
  otpEntriesExceeded: {
    code: 155141,
    status: 400,
    text: 'Too many codes were entered for this address: try again in an hour.',
  },
  otpSendsExceeded: {
    code: 155142,
    status: 400,
    text: 'Too many codes were sent to this address: try again in an hour.',
  },
  deviceTokenExpired: {
    code: 155143,
    status: 400,
    text: 'The device token has expired: ask for another one.',
  },
  deviceTokenInvalid: { code: 155144, status: 400, text: 'The device token is invalid.' },
  deviceTokenNotFound: {
    code: 155145,
    status: 404,
    text: 'The device has a newer token than this one, or this one was used.',
  },
  otpTokenVoid: {
    code: 155146,
    status: 400,
    text: 'Three entries were made: the code is void. Ask for another one.',
  },
  mailNotConfigured: {
    code: 155150,
    status: 404,
    text: 'This server sends no mails: its operator has to set BEZANT_SMTP_URL.',
  },
  socialProvidersMissing: {
    code: 155152,
    status: 404,
    text: 'The app has no social providers: the operator has to set BEZANT_SOCIAL_PROVIDERS.',
  },
} as const
