/** What handlers see of one connection. The same object for all its transactions. */
export interface SmtpSession {
  id: string
  remoteAddress: string
  /** The client's EHLO or HELO name; empty before EHLO. */
  helo: string
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
  tls: string | null
  /** RFC 3848: SMTP, ESMTP, ESMTPS, ESMTPA, ESMTPSA, UTF8SMTP … */
  protocol: string
}

/** An envelope address and its two parts: the local part in the spelling of canonicalLocal, the domain as a lower-case
 *  A-label or, of a sender, an address literal. */
export interface EnvelopeAddress {
  address: string
  local: string
  domain: string
}

/** A transaction whose mail has arrived completely. */
export interface IncomingMail<Recipient> {
  session: SmtpSession
  /** MAIL FROM; null for the null return path, and on a listener with logins, which ignores it. */
  returnPath: EnvelopeAddress | null
  /** In RCPT order, each with the handler's result. */
  recipients: { spoken: EnvelopeAddress; as: Recipient }[]
  sizeBytes: number
  receivedAt: number
  /** The complete mail: CR LF line ends only, dots unstuffed, no NUL, no line over 1 MiB. Small mail is in memory;
   *  large mail stays in a file until this call. Call it once and release the result soon. */
  read: () => Promise<Uint8Array<ArrayBuffer>>
  /** Use it instead of `read` to pass mail to a thread: large mail stays in its file. */
  open: () => Promise<Uint8Array<ArrayBuffer> | FiledMail>
}

/** Mail in a file that stays open until the handler has answered. */
export interface FiledMail {
  fd: number
  byteLength: number
  /** The complete mail in its own memory. Rejects with a disk error. */
  read: () => Promise<Uint8Array<ArrayBuffer>>
}

/** Decisions of the module behind a listener. Each method may throw SmtpReply. Any other error becomes 451 4.3.0 and is
 *  logged with its stack. */
export interface SmtpHandler<Recipient> {
  /** Runs when a client connects. */
  onConnect?: (session: SmtpSession) => Promise<void> | void
  /** If present, the listener offers AUTH PLAIN and LOGIN. */
  onLogin?: (session: SmtpSession, login: { user: string; password: string }) => Promise<void>
  onMailFrom?: (session: SmtpSession, returnPath: EnvelopeAddress | null) => Promise<void> | void
  /** Resolves the meaning of a recipient. `already` holds the results for earlier recipients. */
  onRecipient: (session: SmtpSession, recipient: EnvelopeAddress, already: readonly Recipient[]) => Promise<Recipient>
  /** Takes the mail and returns the text behind `250 2.0.0 `. Resolves only when the mail is durable. */
  onMail: (mail: IncomingMail<Recipient>) => Promise<string>
}
