/** One connection, as far as the rooms behind it may know it. The same object through all its transactions. */
export interface SmtpSession {
  id: string
  remoteAddress: string
  /** What the client called itself; empty before EHLO. */
  helo: string
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`, null in clear. */
  tls: string | null
  /** RFC 3848: SMTP, ESMTP, ESMTPS, ESMTPA, ESMTPSA, UTF8SMTP … */
  protocol: string
}

/** One address as it was spoken, domain as lower-case A-label; and its two parts. */
export interface EnvelopeAddress {
  address: string
  local: string
  domain: string
}

/** A transaction whose mail has come in whole. */
export interface IncomingMail<Recipient> {
  session: SmtpSession
  /** MAIL FROM; null = the null return path. */
  returnPath: EnvelopeAddress | null
  /** In the order they were accepted, with what the door said of each. */
  recipients: { spoken: EnvelopeAddress; as: Recipient }[]
  sizeBytes: number
  receivedAt: number
  /** The whole mail: CRLF line ends only, dots unstuffed, no NUL, no line over 64 KiB. Small ones are in memory, large
   *  ones in a file until this is called; call it once, and drop the result as soon as it is handed on. */
  read: () => Promise<Uint8Array<ArrayBuffer>>
  /** Instead of `read`, for whoever hands the mail to a thread: a large one stays in its file. */
  open: () => Promise<Uint8Array<ArrayBuffer> | FiledMail>
}

/** A mail in a file, which is open until the door has answered. */
export interface FiledMail {
  fd: number
  byteLength: number
  /** The whole mail in memory of its own. Rejects with the error of the disk. */
  read: () => Promise<Uint8Array<ArrayBuffer>>
}

/** What a room behind the listener decides. Each may throw SmtpReply; anything else it throws becomes 451 4.3.0 and is
 *  logged with its stack. */
export interface SmtpHandler<Recipient> {
  /** A connection wants to begin. */
  onConnect?: (session: SmtpSession) => Promise<void> | void
  /** Present = the listener offers AUTH PLAIN and LOGIN. */
  onLogin?: (session: SmtpSession, login: { user: string; password: string }) => Promise<void>
  onMailFrom?: (session: SmtpSession, returnPath: EnvelopeAddress | null) => Promise<void> | void
  /** What this recipient means here. `already`: what was answered for those before it. */
  onRecipient: (session: SmtpSession, recipient: EnvelopeAddress, already: readonly Recipient[]) => Promise<Recipient>
  /** Mail in hand → text behind `250 2.0.0 `. Resolves only when it is durable. */
  onMail: (mail: IncomingMail<Recipient>) => Promise<string>
}
