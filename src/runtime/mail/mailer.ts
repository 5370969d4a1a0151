/** A mail in plain text. */
export type Mail = { to: string; subject: string; text: string }

/** Delivers mails: by SMTP, or in a sandbox to a list that shows them. */
export type Mailer = {
  /** Sends a mail on behalf of an entity, at its turn. */
  send(entityId: string, mail: Mail): Promise<void>
  close(): void
}
