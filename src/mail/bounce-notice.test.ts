import { describe, expect, test } from 'bun:test'
import { readBounceNotice } from './bounce-notice.ts'
import { readParts } from './mime-parts.ts'

function notice(subject: string, text: string) {
  const head = `From: postmaster@mx.example\r\nSubject: ${subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`
  return readBounceNotice(readParts(Buffer.from(`${head}${text.replaceAll('\n', '\r\n')}`)), true)
}

/** The entry with the address. */
function described(address: string | null, subject: string, text: string) {
  const found = notice(subject, text)
  const entry = found?.recipients.find(({ finalRecipient }) => finalRecipient === address)
  return entry && { action: entry.action, status: entry.status, diagnostic: entry.diagnostic }
}

describe('a notice of unknown form', () => {
  test.each([
    [
      'behind the address',
      'Delivery failed\n\nWe tried <ann@dest.example>.\nThe server said: 550 5.1.1 No such user here\n',
      '5.1.1',
      '550 5.1.1 No such user here',
    ],
    [
      'in front of the address',
      'Your message could not be delivered because of\n550 5.1.1 User unknown\nAffected recipients:\n  ann@dest.example\n',
      '5.1.1',
      '550 5.1.1 User unknown',
    ],
    [
      'as the last of a session',
      'Rejected by a remote server.\n Recipient: <ann@dest.example>\n >>> RCPT TO:<ann@dest.example>\n <<< 550 <ann@dest.example>: unknown\n',
      null,
      '550 <ann@dest.example>: unknown',
    ],
    [
      'as a code in brackets alone',
      'Unable to deliver to:\n<ann@dest.example>:\nResources temporarily unavailable [#4.1.9].\n',
      '4.1.9',
      'Resources temporarily unavailable [#4.1.9].',
    ],
    [
      'in words',
      'Undeliverable\nann@dest.example\n  The recipient name is not recognized\n',
      null,
      'The recipient name is not recognized',
    ],
  ])('gives each address the reason %s', (_, text, status, diagnostic) => {
    expect(described('ann@dest.example', 'Notice', text)).toEqual({ action: 'failed', status, diagnostic })
  })

  test('separates recipients with different reasons', () => {
    const text = 'Could not deliver:\nann@dest.example: 550 5.1.1 unknown\nbob@dest.example: 552 5.2.2 mailbox full\n'
    expect(described('ann@dest.example', 'Notice', text)?.status).toBe('5.1.1')
    expect(described('bob@dest.example', 'Notice', text)?.status).toBe('5.2.2')
  })

  test('that names no recipient has one entry for the recipient of the return path', () => {
    expect(described(null, 'Mail failure', 'This mailbox is full.\n')).toEqual({
      action: 'failed',
      status: null,
      diagnostic: 'This mailbox is full.',
    })
  })

  test('lists an address with its own reason before that entry', () => {
    const text = 'Not delivered.\nForwarded to eve@other.example: 550 5.1.1 unknown\n\nQuestions? help@mx.example\n'
    expect(notice('Notice', text)?.recipients.map(({ finalRecipient }) => finalRecipient)).toEqual([
      'eve@other.example',
      null,
      'help@mx.example',
    ])
  })

  test('is marked when only its subject reports the failure', () => {
    expect(notice('Returned mail: User unknown', 'Hello\n')?.form).toBe('subject')
    expect(notice('Returned mail', 'User unknown\n')?.form).toBe('notice')
  })

  test('that announces a retry is a delay', () => {
    const text = 'This is a warning message only.\nann@dest.example: 421 host not reachable\n'
    expect(described('ann@dest.example', 'Notice', text)?.action).toBe('delayed')
  })

  test('ends at the copy of the mail', () => {
    const text = 'Hello,\nall is well.\n\n------ Original message ------\nSubject: 550 5.1.1 undeliverable\n'
    expect(notice('Notice', text)).toBeNull()
  })
})

test.each([
  ['Deutsch', 'Ihre Nachricht konnte leider nicht zugestellt werden.'],
  ['français', "Votre message n'a pas pu être remis à son destinataire."],
  ['español', 'No se ha podido entregar el mensaje.'],
  ['português', 'A mensagem não pôde ser entregue.'],
  ['italiano', 'Non è stato possibile consegnare il messaggio.'],
  ['Nederlands', 'Uw bericht kon niet worden bezorgd.'],
  ['polski', 'Wiadomość nie może zostać dostarczona.'],
  ['русский', 'Сообщение не может быть доставлено.'],
  ['日本語', 'このメールは送信できませんでした。'],
  ['中文', '您的邮件无法投递。'],
  ['한국어', '메시지가 전달되지 않았습니다.'],
])('contains failure words known in %s', (_, text) => {
  expect(notice('', text)?.recipients).toMatchObject([{ action: 'failed', finalRecipient: null }])
})

test.each([
  ['a vacation note', 'I am away', 'I will read your mail when I am back on May 5.'],
  [
    'a notice of delivery',
    'Delivery Status Notification (Success)',
    'Your message was successfully delivered to a@b.example.',
  ],
  ['a receipt', 'Your invoice 550', 'The total is 450 or 5.1.1 of them.\nCall 555 123.'],
  ['nothing', '', ''],
])('%s is not a failure notice', (_, subject, text) => {
  expect(notice(subject, text)).toBeNull()
})

test('an address is at most 320 characters long', () => {
  const host = `${`${'d'.repeat(62)}.`.repeat(4)}example`
  const address = (length: number) => `${'a'.repeat(length - host.length - 1)}@${host}`
  for (const [length, isFound] of [
    [320, true],
    [321, false],
  ] as const) {
    const found = notice('Delivery failed', `We tried <${address(length)}>.\nThe server said: 550 5.1.1 No such user\n`)
    expect([
      length,
      found?.recipients.some(({ finalRecipient }) => finalRecipient === address(length)) ?? false,
    ]).toEqual([length, isFound])
  }
})
