import fc from 'fast-check'

/** SMTP dialogs by the grammar, then damaged. */
export interface Dialog {
  /** What the client sends, latin1, and where it is split. */
  text: string
  cuts: readonly number[]
  /** On a separate connection. */
  isAnew: boolean
}

/** The recipients of a listener and its logins, right and wrong → dialogs. */
export function dialogs(known: { recipients: string[]; logins: string[]; mails: string[] }): fc.Arbitrary<Dialog> {
  const { recipients, logins, mails } = known
  const recipient = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...recipients).map((address) => `<${address}>`) },
    { weight: 1, arbitrary: path },
  )
  const rcpt = fc
    .tuple(
      fc.constantFrom('RCPT TO:', 'RCPT TO:', 'Rcpt To: '),
      recipient,
      fc.constantFrom('', '', '', ' ORCPT=x', ' x'),
    )
    .map((parts) => parts.join(''))
  const content = fc
    .tuple(
      fc.constantFrom(
        ...mails,
        ...mails,
        '',
        'x',
        '\r\n',
        'A: b\r\n\r\n.\r\n',
        '..\r\nx',
        'A: b\r\n\r\n..x\r\n..',
        'A: b\r\n\r\n\r\n..\r\n',
        'a\nb',
        'a\rb',
        'a\0b',
        '\r',
        'Received: x\r\n'.repeat(51),
        'A: b\r\n\r\nx\r\n.\r\nMAIL FROM:<evil@x.example>',
        '\xff\xfe',
        'From: a@b\r\n\r\n',
      ),
      end,
    )
    .map((parts) => parts.join(''))
  const whole = fc.tuple(mail, rcpt, content).map(([from, to, data]) => `${from}\r\n${to}\r\nDATA\r\n${data}`)
  const login = fc.constantFrom(...(logins.length > 0 ? logins : ['AUTH PLAIN AGEAYg==']))
  const line = fc.oneof(
    { weight: 4, arbitrary: mail },
    { weight: 5, arbitrary: rcpt },
    { weight: 3, arbitrary: fc.constant('DATA') },
    { weight: 3, arbitrary: content },
    { weight: 3, arbitrary: whole },
    { weight: 2, arbitrary: hello },
    { weight: 5, arbitrary: odd },
    { weight: 1, arbitrary: login },
  )
  return fc
    .record({
      lines: fc.array(line, { minLength: 1, maxLength: 7 }),
      spice: fc.oneof(
        { weight: 24, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.tuple(fc.nat(7), rare) },
      ),
      edits: fc.oneof(
        { weight: 1, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(edit, { maxLength: 2 }) },
      ),
      ends: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', ''),
      cuts: fc.oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(fc.nat(1_000), { maxLength: 3 }) },
      ),
      anew: fc.nat(60),
    })
    .map(({ lines, spice, edits, ends, cuts, anew }) => {
      const all = spice === null ? lines : lines.toSpliced(spice[0], 0, spice[1])
      let text = `${all.join('\r\n')}${ends}`
      for (const { at, length, put } of edits) {
        const from = at % (text.length + 1)
        text = text.slice(0, from) + put + text.slice(from + length)
      }
      return { text, cuts, isAnew: anew === 60 }
    })
}

/** Text and where to split it → its pieces. */
export function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((at) => at % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return places.slice(1).map((to, n) => text.slice(places[n], to))
}

const name = fc.constantFrom(
  'client.example',
  'x',
  '',
  '[127.0.0.1]',
  'a b',
  '\x80\xff',
  'mail\xc3\xa9.example',
  'y'.repeat(256),
)
const mailParameter = fc.constantFrom(
  '',
  '',
  '',
  '',
  ' SIZE=100',
  ' SIZE=99999999999',
  ' SIZE=x',
  ' BODY=8BITMIME',
  ' BODY=x',
  ' SMTPUTF8',
  ' SMTPUTF8=1',
  ' AUTH=<>',
  ' FOO=BAR',
  ' SIZE=1 SIZE=1',
  ' RET=FULL',
  ' =',
  '  BODY=7BIT  ',
)
const path = fc.constantFrom(
  '<s@sender.example>',
  '<s@sender.example>',
  '<s@sender.example>',
  '<>',
  's@sender.example',
  '<"a b"@sender.example>',
  '<@x.example:s@sender.example>',
  '<s@[127.0.0.1]>',
  '<s@b\xc3\xbccher.example>',
  '<\xff@x.example>',
  '<a@b',
  '<a@b@c>',
  ` <s@sender.example>`,
  '<"\\>"@x.example>',
  `<${'l'.repeat(300)}@x.example>`,
  '<postmaster>',
  '<s@.>',
  '<a..b@x.example>',
)
const odd = fc.constantFrom(
  'NOOP',
  'NOOP x',
  'RSET',
  'RSET',
  'RSET x',
  'HELP',
  'HELP DATA',
  'VRFY',
  'VRFY a@b',
  'EXPN list',
  'ETRN x',
  'BDAT 3 LAST\r\nabc',
  'TURN',
  'DATA',
  'DATA x',
  '',
  ' ',
  '.',
  '..',
  '*',
  'FOO',
  'data',
  'dAtA ',
  'MAIL',
  'RCPT',
  'MAIL FROM',
  'RCPT TO:',
  'AUTH',
  'AUTH PLAIN',
  'AUTH LOGIN',
  'AUTH LOGIN Zm9v\r\nYmFy',
  'AUTH CRAM-MD5',
  'AUTH PLAIN =',
  'AUTH PLAIN AGEAYg==',
  'AUTH PLAIN a b c',
  'AUTH XOAUTH2 x',
  'AUTH __PROTO__',
  'AUTH PLAIN\r\n*',
  '\0',
  '\xff\xfe',
  'NOOP\rNOOP',
  'NOOP\nNOOP',
  'EHLO',
  '\tNOOP',
  'NOOP\0',
)
const rare = fc.constantFrom(
  'QUIT',
  'QUIT x',
  'STARTTLS',
  'STARTTLS',
  'STARTTLS x',
  'STARTTLS\r\nEHLO injected',
  'GET / HTTP/1.1',
  `NOOP ${'x'.repeat(600)}`,
  `NOOP ${'x'.repeat(17_000)}`,
  'x'.repeat(17_000),
  // Each of these lines once took almost a second.
  `NOOP x${' '.repeat(16_000)}y\r\n`.repeat(15),
  'NOOP\r\n'.repeat(101),
  'FOO\r\n'.repeat(21),
  `${'RCPT TO:<a@b.example>\r\n'.repeat(18)}`,
)
const hello = fc.tuple(fc.constantFrom('EHLO', 'EHLO', 'HELO', 'ehlo'), name).map(([verb, host]) => `${verb} ${host}`)
const mail = fc
  .tuple(fc.constantFrom('MAIL FROM:', 'MAIL FROM:', 'mail from: '), path, mailParameter)
  .map((parts) => parts.join(''))
const end = fc.constantFrom('\r\n.', '\r\n.', '\r\n.', '\r\n.', '.', '\n.', '\r\n..', '\r\n.\n', '\r.', '')
const edit = fc.record({
  at: fc.nat(1_000),
  length: fc.constantFrom(0, 0, 1, 1, 2, 9),
  put: fc.constantFrom(
    '',
    '',
    '\r\n',
    '\n',
    '\r',
    '\0',
    '.',
    '\r\n.\r\n',
    ' ',
    '<',
    '>',
    ':',
    '@',
    '"',
    '\\',
    '\xff',
    'DATA\r\n',
    '\xc3',
    '\x85',
  ),
})
