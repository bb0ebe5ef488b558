import { SmtpReply } from './reply.ts'

type Parameters = Map<string, string | null>

/** Parameters of MAIL → whether SMTPUTF8 is requested. Throws SmtpReply: 555 5.5.4 for a parameter we do not offer, 501
 *  5.5.4 for an invalid value, 552 5.3.4 when SIZE exceeds `messageBytes`. RET and ENVID are accepted and ignored, with
 *  `login` also AUTH=: some programs send them unasked. RFC 1870, RFC 3461 §4.3, §4.4, RFC 6152, RFC 6531 §3.4, RFC 4954
 *  §5. */
export function checkMailParameters(parameters: Parameters, our: { messageBytes: number; login: boolean }): boolean {
  for (const [key, value] of parameters) {
    if (key === 'SIZE') checkSize(value, our.messageBytes)
    else if (key === 'BODY') {
      if (!/^(7BIT|8BITMIME)$/i.test(value ?? '')) throw new SmtpReply(501, '5.5.4', 'BODY must be 7BIT or 8BITMIME')
    } else if (key === 'SMTPUTF8') {
      if (value !== null) throw new SmtpReply(501, '5.5.4', 'SMTPUTF8 takes no value')
    } else if (value === null || !(IGNORED.has(key) || (key === 'AUTH' && our.login))) throw unknown(key)
  }
  return parameters.has('SMTPUTF8')
}

/** Parameters of RCPT: NOTIFY and ORCPT are accepted and ignored. Throws 555 5.5.4 for others. RFC 3461 §4.1, §4.2 */
export function checkRecipientParameters(parameters: Parameters): void {
  for (const [key, value] of parameters) if (value === null || !IGNORED_OF_RECIPIENTS.has(key)) throw unknown(key)
}

const IGNORED: ReadonlySet<string> = new Set(['RET', 'ENVID'])
const IGNORED_OF_RECIPIENTS: ReadonlySet<string> = new Set(['NOTIFY', 'ORCPT'])

/** The reply for mail above the size limit, announced or counted. */
export function tooLarge(messageBytes: number): SmtpReply {
  return new SmtpReply(552, '5.3.4', `message exceeds ${messageBytes} bytes`)
}

function checkSize(value: string | null, messageBytes: number): void {
  if (value === null || !/^\d{1,20}$/.test(value)) throw new SmtpReply(501, '5.5.4', 'SIZE must be a number of bytes')
  if (Number(value) > messageBytes) throw tooLarge(messageBytes)
}

const unknown = (key: string) => new SmtpReply(555, '5.5.4', `unknown parameter ${key.slice(0, 40)}`)
