import { describe, expect, test } from 'bun:test'
import { asMail, loadFixtures } from '../../test/support/fixtures.ts'
import { type DsnRecipient, readDsn } from './dsn.ts'

const fixtures = loadFixtures('dsn')

type Told = [
  action: DsnRecipient['action'],
  finalRecipient: string | null,
  status: string | null,
  diagnostic: string | null,
  remoteMta: string | null,
  originalRecipient: string | null,
]

const READ: [fixture: string, form: string, reportingMta: string | null, recipients: Told[]][] = [
  [
    'amazon-ses-text',
    'amazon-ses',
    null,
    [
      ['failed', 'nobody@dest.example', null, null, null, null],
      ['failed', 'other@dest.example', null, null, null, null],
    ],
  ],
  [
    'amazon-ses',
    'rfc3464',
    'a7-12.smtp-out.eu-west-1.amazonses.example',
    [['failed', 'nobody@dest.example', '5.4.1', '550 5.4.1 Recipient address rejected: Access denied.', null, null]],
  ],
  [
    'courier-text',
    'courier',
    'courier.example',
    [['failed', 'nobody@dest.example', '5.1.1', '550 5.1.1 User unknown.', null, null]],
  ],
  [
    'courier',
    'rfc3464',
    'courier.example',
    [['failed', 'nobody@dest.example', '5.0.0', '550 User unknown.', 'mx.dest.example', null]],
  ],
  [
    'domino',
    'domino',
    null,
    [
      [
        'failed',
        'nobody@notes.example',
        null,
        'User nobody (nobody@notes.example) not listed in Domino Directory',
        null,
        null,
      ],
    ],
  ],
  ['exchange-old-text', 'exchange', null, [['failed', 'nobody@corp.example', '5.1.1', '5.1.1', null, null]]],
  [
    'exchange-on-premises',
    'rfc3464',
    'EX01.corp.example',
    [
      [
        'failed',
        'nobody@corp.example',
        '5.1.1',
        '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found',
        null,
        'nobody@corp.example',
      ],
    ],
  ],
  ['exim-delayed', 'exim', null, [['delayed', 'slow@dest.example', '4.7.1', '451 4.7.1 Try again later', null, null]]],
  [
    'exim-report',
    'rfc3464',
    'relay.example',
    [
      [
        'failed',
        'nobody@dest.example',
        '5.1.1',
        '550-5.1.1 No such user here. 550 5.1.1 Check the address.',
        'mx.dest.example',
        null,
      ],
    ],
  ],
  [
    'exim-text',
    'exim',
    null,
    [
      ['failed', 'nobody@dest.example', '5.1.1', '550 5.1.1 <nobody@dest.example> User unknown', null, null],
      ['failed', 'else@far.example', null, 'Unrouteable address', null, null],
    ],
  ],
  [
    'failed-recipients-header',
    'x-failed-recipients',
    null,
    [['failed', 'full@dest.example', '5.2.2', '552 5.2.2 Mailbox full', null, null]],
  ],
  [
    'gmail-old',
    'gmail',
    null,
    [['delayed', 'slow@dest.example', '4.3.0', '451 4.3.0 Temporary lookup failure', null, null]],
  ],
  [
    'gmail-report',
    'rfc3464',
    'mail.gmail.example',
    [
      [
        'failed',
        'nobody@gmail.example',
        '5.1.1',
        "550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient's email address for typos or 550 5.1.1 unnecessary spaces. a1si123456 - gsmtp",
        'mx.gmail.example',
        null,
      ],
    ],
  ],
  [
    'gmail-text',
    'gmail',
    null,
    [
      [
        'failed',
        'blocked@gmail.example',
        '5.7.1',
        '550-5.7.1 This message does not meet our sending guidelines. 550 5.7.1 Learn more at https://support.gmail.example/ gsmtp',
        null,
        null,
      ],
    ],
  ],
  [
    'headers-only-run-together',
    'rfc3464',
    'tight.example',
    [
      ['failed', 'one@dest.example', '5.2.1', null, null, null],
      ['delayed', 'two@dest.example', '4.2.2', '452-4.2.2 The mailbox 452 4.2.2 is full', null, null],
    ],
  ],
  [
    'office365',
    'rfc3464',
    'AM0PR01MB0001.prod.example',
    [
      [
        'failed',
        'nobody@tenant.example',
        '5.1.10',
        '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
        null,
        null,
      ],
    ],
  ],
  [
    'outlook-com',
    'rfc3464',
    'SNT004-MC1F1.hotmail.example',
    [['failed', 'full@hotmail.example', '5.2.2', '552 5.2.2 <full@hotmail.example>: mailbox full', null, null]],
  ],
  [
    'postfix-delayed',
    'rfc3464',
    'relay.example',
    [
      [
        'delayed',
        'slow@dest.example',
        '4.4.1',
        'connect to mx.dest.example[192.0.2.25]:25: Connection timed out',
        null,
        null,
      ],
    ],
  ],
  [
    'postfix-failed',
    'rfc3464',
    'relay.example',
    [
      [
        'failed',
        'nobody@dest.example',
        '5.1.1',
        '550 5.1.1 <nobody@dest.example>: Recipient address rejected: User unknown',
        'mx.dest.example',
        'nobody@dest.example',
      ],
    ],
  ],
  [
    'postfix-success',
    'rfc3464',
    'relay.example',
    [
      ['delivered', 'one@dest.example', '2.0.0', 'delivered to maildir', null, 'one@dest.example'],
      ['relayed', 'two@far.example', '2.0.0', '250 2.0.0 Ok: queued as 9A8B7C', 'mx.far.example', null],
      ['expanded', 'team@dest.example', '2.0.0', null, null, null],
    ],
  ],
  [
    'postfix-text',
    'postfix',
    'relay.example',
    [
      ['failed', 'nobody@dest.example', '5.1.1', '550 5.1.1 <nobody@dest.example>: User unknown', null, null],
      [
        'failed',
        'away@far.example',
        null,
        'Host or domain name not found. Name service error for name=far.example type=MX: Host not found',
        null,
        null,
      ],
    ],
  ],
  [
    'qmail',
    'qmail',
    'qmail.example',
    [
      ['failed', 'nobody@dest.example', '5.1.1', '550 5.1.1 No such mailbox', null, null],
      [
        'failed',
        'lost@nowhere.example',
        '5.1.2',
        "Sorry, I couldn't find any host named nowhere.example. (#5.1.2)",
        null,
        null,
      ],
    ],
  ],
  [
    'sendmail-report',
    'rfc3464',
    'old.example',
    [
      [
        'failed',
        'nobody@dest.example',
        '5.1.1',
        '550 5.1.1 <nobody@dest.example>... User unknown',
        'mx.dest.example',
        null,
      ],
    ],
  ],
  [
    'sendmail-text',
    'sendmail',
    null,
    [['failed', 'nobody@dest.example', '5.1.1', '550 5.1.1 <nobody@dest.example>... User unknown', null, null]],
  ],
  [
    'sendmail-warning',
    'sendmail',
    null,
    [
      [
        'delayed',
        'slow@dest.example',
        null,
        '<slow@dest.example>... Deferred: Connection timed out with mx.dest.example.',
        null,
        null,
      ],
    ],
  ],
  [
    'smtputf8-global',
    'rfc3464',
    'relay.example',
    [
      [
        'failed',
        'jörg@xn--gre-6ka8i.example',
        '5.1.1',
        '550 5.1.1 Empfänger unbekannt',
        null,
        'jörg@xn--gre-6ka8i.example',
      ],
    ],
  ],
  [
    'yahoo',
    'yahoo',
    null,
    [
      [
        'failed',
        'gone@yahoo.example',
        null,
        "554 delivery error: dd This user doesn't have a yahoo.example account (gone@yahoo.example) [0] - mta4001.mail.yahoo.example",
        null,
        null,
      ],
    ],
  ],
]

describe('a delivery status notification', () => {
  test.each(READ)('of %s is read', (name, form, reportingMta, recipients) => {
    expect(readDsn(fixtures.get(name)!)).toMatchObject({
      form,
      reportingMta,
      recipients: recipients.map(([action, finalRecipient, status, diagnostic, remoteMta, originalRecipient]) => ({
        finalRecipient,
        originalRecipient,
        action,
        status,
        diagnostic,
        remoteMta,
      })),
    })
  })

  test('has a line in this table for every fixture', () => {
    expect(READ.map(([name]) => name).sort()).toEqual(Array.from(fixtures.keys()).sort())
  })

  test.each(READ.map(([name]) => name))('of %s is read the same with LF line ends', (name) => {
    const text = Buffer.from(fixtures.get(name)!).toString()
    expect(readDsn(Buffer.from(text.replaceAll('\r\n', '\n')))).toEqual(readDsn(fixtures.get(name)!))
  })

  test.each([
    ['Action: failed\nStatus: 4.2.2', 'failed', '4.2.2'],
    ['Action: delayed\nStatus: 5.0.0', 'delayed', '5.0.0'],
    ['Action: Failure (gave up)\nStatus: 5.1', 'failed', null],
    ['Status: 5.1.1', 'failed', '5.1.1'],
    ['Status: 4.4.7', 'delayed', '4.4.7'],
    ['Status: 2.1.5', 'delivered', '2.1.5'],
    ['Action: constructor\nStatus: 5.1.1', 'failed', '5.1.1'],
    ['Diagnostic-Code: smtp; 550 no user', 'failed', null],
    ['Diagnostic-Code: x-unix; 451 4.3.0 later', 'delayed', '4.3.0'],
    ['Diagnostic-Code: smtp; host 5.1.1.1 said: 552 5.2.2. Full\nAction: failed', 'failed', '5.2.2'],
    ['Status: 5.0.0\nDiagnostic-Code: smtp; 550 5.7.1 no', 'failed', '5.7.1'],
    ['Status: 5.0.0\nDiagnostic-Code: smtp; 451 4.7.1 no', 'failed', '5.0.0'],
    ['Status: 5.2.1\nDiagnostic-Code: smtp; 550 5.7.1 no', 'failed', '5.2.1'],
  ])('with %j has an action and a status', (fields, action, status) => {
    const dsn = readDsn(
      statusMail(`Reporting-MTA: dns; a.example\n\nFinal-Recipient: rfc822; b@c.example\n${fields}\n`),
    )
    expect(dsn?.recipients.map((each) => [each.action, each.status])).toEqual([[action as never, status]])
  })

  test.each([
    ['rfc822; A@B.Example', 'A@b.example'],
    ['RFC822;<a@b.example> (A)', 'a@b.example'],
    ['a@b.example', 'a@b.example'],
    ['<a@b.example>', 'a@b.example'],
    ['utf-8; \\x{FC}@b.example', 'ü@b.example'],
    ['utf-8; \\x{110000}@b.example', '\\x{110000}@b.example'],
    ['utf-8; \\x{D83D}@b.example', '\\x{D83D}@b.example'],
    ['rfc822; \\x{FC}@b.example', '\\x{FC}@b.example'],
    ['local; root', 'root'],
    ['rfc822;', null],
    ['unknown; no body here', null],
  ])('names the recipient of %j', (value, address) => {
    const dsn = readDsn(statusMail(`Final-Recipient: ${value}\nAction: failed\nStatus: 5.1.1\n`))
    expect(dsn?.recipients[0]?.finalRecipient).toBe(address)
  })

  test('joins a recipient split by an empty line and separates two without one', () => {
    const parted = readDsn(statusMail('Final-Recipient: rfc822; a@b.example\n\nAction: failed\nStatus: 5.1.1\n'))
    expect(parted?.recipients.map((each) => [each.finalRecipient, each.status])).toEqual([['a@b.example', '5.1.1']])
    const run = 'Action: failed\nFinal-Recipient: a@b.example\nAction: delayed\nFinal-Recipient: c@b.example\n'
    const together = readDsn(statusMail(run))
    expect(together?.recipients.map((each) => [each.finalRecipient, each.action])).toEqual([
      ['a@b.example', 'failed'],
      ['c@b.example', 'delayed'],
    ])
  })

  test('is limited to a thousand recipients, two thousand characters of diagnostic and the first MiB', () => {
    const many = statusMail('Final-Recipient: a@b.example\nAction: failed\n\n'.repeat(2_000))
    expect(readDsn(many)?.recipients).toHaveLength(1_000)
    const long = statusMail(`Final-Recipient: a@b.example\nDiagnostic-Code: smtp; 550 ${'x '.repeat(5_000)}\n`)
    expect(readDsn(long)?.recipients[0]?.diagnostic).toHaveLength(2_000)
    const late = asMail(
      `From: mailer-daemon@b.example\nContent-Type: multipart/report; boundary=b\n\n${'x\n'.repeat(400_000)}--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: a@b.example\nAction: failed\n--b--\n`,
    )
    expect(readDsn(late)).toBeNull()
  })

  test('removes control characters from a diagnostic', () => {
    const dsn = readDsn(statusMail('Final-Recipient: a@b.example\nDiagnostic-Code: smtp; 550 a\x1b[2Jb\0c\n'))
    expect(dsn?.recipients[0]?.diagnostic).toBe('550 a [2Jb c')
  })

  test.each([
    ['after the mail was sent', '<<< 550 5.7.1 refused', true],
    ['to the recipient, so that DATA has none', '<<< 550 5.1.1 unknown\n<<< 503 5.0.0 Need RCPT (recipient)', false],
    ['to the recipient, in a line of its own', '<<< 554 5.5.1 no\n550 5.1.1 <a@b.example>... User unknown', false],
  ])('knows from the dialogue of Sendmail that the refusal came %s', (_, replies, isAfterRecipient) => {
    const words = `----- Transcript of session follows -----\n... while talking to mx.b.example.:\n>>> DATA\n${replies}\n`
    const status = 'Final-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.1.1\n'
    const dsn = readDsn(
      asMail(
        `From: mailer-daemon@b.example\nContent-Type: multipart/report; boundary=b\n\n--b\n\n${words}\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; b.example\n\n${status}\n--b--\n`,
      ),
    )
    expect(dsn?.isAfterRecipient).toBe(isAfterRecipient)
  })

  test('lists each recipient once although Exchange names them twice', () => {
    const text = (verb: string) =>
      `From: postmaster@b.example\nSubject: x\n\nDelivery ${verb} to these recipients or groups:\n\na@c.example\nb@c.example\n\nGenerating server: ex.c.example\n\na@c.example\nRemote Server returned '550 5.1.1 No A'\n\nb@c.example\nRemote Server returned '452 4.2.2 B is full'\n`
    for (const [verb, action] of [
      ['has failed', 'failed'],
      ['is delayed', 'delayed'],
    ] as const) {
      const dsn = readDsn(asMail(text(verb)))
      expect(dsn?.reportingMta).toBe('ex.c.example')
      expect(dsn?.recipients.map((each) => [each.finalRecipient, each.action, each.diagnostic])).toEqual([
        ['a@c.example', action, '550 5.1.1 No A'],
        ['b@c.example', action, '452 4.2.2 B is full'],
      ])
    }
  })
})

describe('not a delivery status notification:', () => {
  const QMAIL = fixtures.get('qmail')!
  const bounceText = Buffer.from(QMAIL).toString().split('\r\n\r\n').slice(1).join('\n\n').replaceAll('\r\n', '\n')

  test.each<[string, string]>([
    ['an empty mail', ''],
    ['an ordinary mail', 'From: a@b.example\nSubject: Hi\n\nHow are you?\n'],
    [
      'a vacation note',
      'From: a@b.example\nReturn-Path: <>\nAuto-Submitted: auto-replied\nSubject: Out of office\n\nBack soon.\n',
    ],
    [
      'a newsletter about bounces',
      'From: news@b.example\nPrecedence: bulk\nSubject: Delivery failed?\n\nYour message could not be delivered to <a@b.example>:\n550 5.1.1 means this.\n',
    ],
    ['a person who sends a bounce as text', `From: a@b.example\nSubject: Fwd: failure notice\n\n${bounceText}`],
    [
      'a mail system that quotes a bounce',
      `From: postmaster@b.example\nSubject: Re: failure notice\n\nThe cause is this:\n${bounceText.replace(/^/gm, '> ')}`,
    ],
    [
      'a postmaster who writes about a bounce',
      'From: postmaster@b.example\nSubject: Monday\n\nIt said: Hi. This is the qmail-send program at b.example.\n\n<a@b.example>:\nWhat of him?\n',
    ],
    [
      'a postmaster who writes',
      'From: postmaster@b.example\nSubject: Undeliverable?\n\nThe mail could not be delivered.\n<a@b.example>:\n550\n',
    ],
    [
      'a domino subject without its text',
      'From: postmaster@b.example\nSubject: DELIVERY FAILURE: x\n\n  a@b.example\n',
    ],
    [
      'a domino text without its subject',
      'From: postmaster@b.example\nSubject: x\n\nwas not delivered to:\n\n  a@b.example\n',
    ],
    [
      'a form without a recipient',
      'From: mailer-daemon@b.example\nSubject: x\n\nHi. This is the qmail-send program at b.example.\n\nNobody.\n',
    ],
    [
      'a status part without recipients',
      Buffer.from(statusMail('Reporting-MTA: dns; a.example\n')).toString().replaceAll('\r', ''),
    ],
    [
      'a read receipt',
      'From: a@b.example\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n--b\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; a@b.example\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--\n',
    ],
  ])('%s', (_, text) => expect(readDsn(asMail(text))).toBeNull())

  test('a mail with a notification attached', () => {
    const attached = Buffer.from(fixtures.get('postfix-failed')!).toString().replaceAll('\r\n', '\n')
    const mail = `From: a@b.example\nSubject: what is this?\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\n\nLook:\n--outer\nContent-Type: message/rfc822\n\n${attached}\n--outer--\n`
    expect(readDsn(asMail(mail))).toBeNull()
  })

  test.each(Array.from(loadFixtures('arf')))('the complaint %s', (_, raw) => expect(readDsn(raw)).toBeNull())
})

function statusMail(status: string): Uint8Array {
  return asMail(
    `From: mailer-daemon@a.example\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n${status}\n--b--\n`,
  )
}
