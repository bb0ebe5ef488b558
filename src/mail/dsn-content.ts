/** A delivery status notification for one recipient. RFC 3464 §2.3 */
export interface DsnRecipient {
  /** Address without its type; null if missing. */
  finalRecipient: string | null
  originalRecipient: string | null
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** `5.1.1`; null if missing or malformed. */
  status: string | null
  /** The remote server's reply, unfolded, without its `smtp;`. */
  diagnostic: string | null
  remoteMta: string | null
}

/** A report's content, whichever program wrote it. */
export interface Dsn {
  /** The reader that recognized it: `rfc3464`, or the rule of a non-standard form. */
  form: string
  reportingMta: string | null
  /** At least one. */
  recipients: DsnRecipient[]
  /** True if the server accepted the recipient and then refused the mail itself. False with several recipients, where
   *  that is unknown. */
  isAfterRecipient: boolean
  /** The report's text about its only recipient, in lines; null with several, or without text. At most 2,000
   *  characters. */
  words: string | null
}

/** Result of one form's reader; the rest is common to all. */
export type FormDsn = Omit<Dsn, 'isAfterRecipient' | 'words'>
