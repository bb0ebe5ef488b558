/** What a delivery status notification says of one recipient. RFC 3464 §2.3. */
export interface DsnRecipient {
  /** Address without its type; null when not said. */
  finalRecipient: string | null
  originalRecipient: string | null
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** `5.1.1`; null when not said or malformed. */
  status: string | null
  /** The remote server's reply, unfolded, without its `smtp;`. */
  diagnostic: string | null
  remoteMta: string | null
}

export interface Dsn {
  /** Which reader understood it: `rfc3464`, or the name of the rule for a non-standard form. */
  form: string
  reportingMta: string | null
  /** At least one. */
  recipients: DsnRecipient[]
}
