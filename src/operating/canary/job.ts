/** A look into a mailbox elsewhere. */
export interface MailboxJob {
  host: string
  port: number
  tls: 'starttls' | 'implicit' | 'none'
  username: string
  password: string
  /** PEM certificates to trust instead of the system's; null: the system's. */
  ca: string | null
  /** Where mail is expected. */
  folder: string
  /** Where spam lies; null: the folder that the server marks with \Junk. */
  spamFolder: string | null
  /** Words in the subjects of mails to look for. */
  words: readonly string[]
  /** Delete the mails instead. */
  isRemoval: boolean
  /** Time for all of it, ms. */
  timeoutMs: number
}

export interface MailboxFound {
  word: string
  place: 'inbox' | 'spam'
  /** When the server got it, ms UTC; null if it does not say. */
  at: number | null
}

/** `error`: why the mailbox could not be read; then the rest is what was found before. */
export interface MailboxAnswer {
  found: MailboxFound[]
  /** Null: the server marks no folder as \Junk. */
  spamFolder: string | null
  error: string | null
}
