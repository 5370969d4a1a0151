/** A mail in plain text. */
export type Mail = { to: string; subject: string; text: string }

/** Delivers mails: by SMTP, or in a sandbox to a list that shows them. */
export type Mailer = { send(mail: Mail): Promise<void>; close(): void }
