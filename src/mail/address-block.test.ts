import { describe, expect, test } from 'bun:test'
import { blocksAddress } from './address-block.ts'
import { classifyReply } from './bounce-class.ts'
import { parseReplyLine } from './reply.ts'

const judge = (line: string) => {
  const reply = parseReplyLine(line)
  if (reply === null) throw new Error(`no reply: ${line}`)
  return blocksAddress(reply, classifyReply(reply))
}

describe('a server blocks our address when it says that', () => {
  test.each([
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
    "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).",
    '550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
    '553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in a list',
    '421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address. gsmtp',
    '550 5.7.25 The IP address sending this message does not have a PTR record setup. gsmtp',
    "554 5.7.1 Your access to this mail system has been rejected due to the sending MTA's poor reputation; your IP 192.0.2.1",
    '550 blocked: see https://ipcheck.proofpoint.com/?ip=192.0.2.1',
    '554 messages from 192.0.2.1 refused, your host is on our list',
  ])('%s', (line) => {
    expect(judge(line)).toBe(true)
  })
})

describe('and not when another address would change nothing', () => {
  test.each([
    '550 5.1.1 User unknown',
    '421 4.7.0 Try again later, closing connection',
    '450 4.2.0 Greylisted, see http://postgrey.example/',
    '552 5.2.2 Mailbox full',
    "550 5.7.26 Unauthenticated email from sender.example is not accepted due to the domain's DMARC policy. gsmtp",
    '550 5.7.1 This message is likely unsolicited due to the very low reputation of the sending domain. gsmtp',
    '554 5.7.1 blocked using dbl.spamhaus.org: sender.example',
    '550 5.7.1 Message rejected as spam',
    '451 4.7.1 Too many messages, slow down',
    '550 5.7.1 Relaying denied',
  ])('%s', (line) => {
    expect(judge(line)).toBe(false)
  })
})
