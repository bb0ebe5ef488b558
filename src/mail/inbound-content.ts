/** What the payload shows of a mail beyond its record (interface.md "Inbound received delivery"). */
export interface ParsedMail {
  /** Empty when there is none. */
  textBody: string
  htmlBody: string
  /** Names lower-case, values unfolded and decoded; values of a repeated header joined by `\n`, in order. */
  headers: Record<string, string>
  attachments: { filename: string; contentType: string; sizeBytes: number }[]
}
