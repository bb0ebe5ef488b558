import { type ParsedMail, packParsed, packRaw } from '../../src/mail/inbound-content.ts'
import type { InboundMessage } from '../../src/model/inbound-message.ts'

/** An accepted inbound mail, for tests that start at the store. */
export const RAW = [
  'Received: from mx.sender.example by mail.postrider.test; Sat, 21 Nov 2026 12:00:00 +0000',
  'From: Ann <ann@sender.example>',
  'To: support@own.example',
  'Subject: Rechnung =?utf-8?B?8J+Tgw==?=',
  'Message-ID: <1@sender.example>',
  '',
  'Hello, here it is.',
  '',
].join('\r\n')

export const PARSED: ParsedMail = {
  textBody: 'Hello, here it is. Grüße 📬\n',
  htmlBody: '<p>Hello, "here" it is.</p>\u2028',
  headers: { from: 'Ann <ann@sender.example>', 'message-id': '<1@sender.example>', received: 'one\ntwo' },
  attachments: [
    { filename: 'invoice.pdf', contentType: 'application/pdf', sizeBytes: 5, contentId: null },
    { filename: 'größe.txt', contentType: 'text/plain', sizeBytes: 2, contentId: null },
  ],
}

/** The two attachments of PARSED. */
export const CONTENTS = [Buffer.from('%PDF-'), Buffer.from('ok')]

/** A mail with these two attachments. */
export const RAW_WITH_ATTACHMENTS = [
  'From: Ann <ann@sender.example>',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  '',
  'Hello, here it is.',
  '--b',
  'Content-Type: application/pdf; name=invoice.pdf',
  'Content-Disposition: attachment',
  '',
  '%PDF-',
  '--b',
  'Content-Type: text/plain',
  'Content-Disposition: attachment',
  '',
  'ok',
  '--b--',
  '',
].join('\r\n')

/** A message of that mail, from a webhook route by default. */
export function inboundMessage(
  part: Pick<InboundMessage, 'id' | 'organizationId' | 'domainId' | 'routeId' | 'receivedAt'> & Partial<InboundMessage>,
): InboundMessage {
  return {
    action: 'webhook',
    returnPath: 'bounce@sender.example',
    from: 'ann@sender.example',
    to: ['support@own.example'],
    subject: 'Rechnung 📃',
    messageIdHeader: '<1@sender.example>',
    sizeBytes: RAW.length,
    senderIp: '192.0.2.7',
    helo: 'mx.sender.example',
    tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
    verdicts: { spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' },
    parseError: null,
    forwardedAs: null,
    notForwarded: [],
    inReplyTo: null,
    autoSubmitted: false,
    ...part,
  }
}

/** What the store keeps of the mail, once for all its messages. */
export function storedMail(parsed: ParsedMail = PARSED, raw: string | Uint8Array = RAW) {
  return { raw: packRaw(Buffer.from(raw)), parsed: packParsed(parsed) }
}
