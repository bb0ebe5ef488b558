/** Mails that others wrote, and that a server without an extension cannot take as they are. */

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`

/** With a header that neither we nor Postfix complete. */
export const mail = (header: string[], ...body: string[]) =>
  lines(
    'From: ann@sender.test',
    'To: anna@remote.test',
    'Subject: hello',
    'Date: Sat, 28 Nov 2026 13:00:00 +0000',
    'Message-Id: <1@sender.test>',
    ...(header.length > 0 ? ['MIME-Version: 1.0'] : []),
    ...header,
    '',
    ...body,
  )

const EIGHT_BIT = 'Content-Transfer-Encoding: 8bit'
const mixed = (...parts: string[][]) =>
  mail(
    ['Content-Type: multipart/mixed; boundary="=_b"', EIGHT_BIT],
    ...parts.flatMap((part) => ['--=_b', ...part]),
    '--=_b--',
  )

const TEXT = 'Content-Type: text/plain; charset=utf-8'
const attached = (from: string) =>
  mixed([
    'Content-Type: message/rfc822',
    EIGHT_BIT,
    '',
    from,
    'Content-Type: multipart/mixed; boundary=inner',
    EIGHT_BIT,
    '',
    ...['--inner', TEXT, EIGHT_BIT, '', 'Grüße', '--inner--'],
  ])

/** We pass these on byte for byte as Postfix does. */
export const AS_POSTFIX: Record<string, string> = {
  'text with blanks at its ends and signs of quoted-printable': mail(
    [TEXT, EIGHT_BIT],
    'Grüße  ',
    '=C3 a=b\t',
    '.',
    'From here',
    'ü'.repeat(200),
  ),
  'a text in an old charset': mail(['Content-Type: text/plain; charset=koi8-r', EIGHT_BIT], 'привет'),
  'binary content': mail(['Content-Type: application/pdf', 'Content-Transfer-Encoding: binary'], '%PDF ü', 'é'),
  'raw headers of mail and parts, and texts around the parts': mail(
    ['Subject-Of-Old: Grüße', 'Content-Type: multipart/mixed; boundary=b'],
    'préamble',
    '--b',
    'Content-Disposition: attachment; filename="ü.txt"',
    'Content-Type: text/plain',
    EIGHT_BIT,
    '',
    'ä',
    '--b--',
    'épilogue',
  ),
  'a multipart in a multipart': mixed(
    ['Content-Type: multipart/alternative; boundary=i', EIGHT_BIT, '', '--i', TEXT, EIGHT_BIT, '', 'ä', '--i--', ''],
    ['Content-Type: image/png', 'Content-Transfer-Encoding: base64', '', 'aGVsbG8='],
  ),
  'a signed multipart': mail(
    ['Content-Type: multipart/signed; boundary=b; protocol="application/pgp-signature"'],
    '--b',
    TEXT,
    EIGHT_BIT,
    '',
    'Grüße',
    '--b',
    'Content-Type: application/pgp-signature',
    '',
    'signature',
    '--b--',
  ),
  'an attached message': attached('From: j@elsewhere.test'),
  'an attached message of internationalized mail': mixed([
    'Content-Type: message/global',
    EIGHT_BIT,
    '',
    'From: <ü@elsewhere.test>',
    '',
    'Grüße',
  ]),
  'lines of 998, 999 and 5,007 octets': mail([], 'x'.repeat(998), 'y'.repeat(999), '', 'z'.repeat(5_007), 'end'),
  'a long line with a dot in front, and a long last line': mail([], `.${'x'.repeat(998)}`, 'y'.repeat(1_996)),
  'a long header line without blanks': mail([`X-Token: ${'t'.repeat(2_500)}`], 'x'),
}

/** Where we differ: the part that goes out instead. */
export const UNLIKE_POSTFIX: Record<string, [input: string, ours: string, postfix: string]> = {
  'undeclared 8-bit text is encoded too': [
    mail([TEXT], 'Grüße'),
    'Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n',
    '\r\n\r\nGrüße\r\n',
  ],
  'text of a mail without MIME is encoded and named': [
    mail([], 'Grüße'),
    'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n',
    '\r\n\r\nGrüße\r\n',
  ],
  'an attached message whose header stays raw says so': [
    attached('From: Jürgen <j@elsewhere.test>'),
    `Content-Type: message/rfc822\r\n${EIGHT_BIT}\r\n\r\nFrom: Jürgen`,
    'Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 7bit\r\n\r\nFrom: Jürgen',
  ],
  'a part that is declared 8-bit and is ASCII stays': [
    mixed(['', 'ü'], [EIGHT_BIT, '', 'a=b']),
    `\r\n${EIGHT_BIT}\r\n\r\na=b\r\n`,
    '\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3Db\r\n',
  ],
  'raw octets in quoted-printable are encoded': [
    mail(['Content-Transfer-Encoding: quoted-printable'], '=C3=A4 ä'),
    '\r\n\r\n=C3=A4 =C3=A4\r\n',
    '\r\n\r\n=C3=A4 ä\r\n',
  ],
  'a status report, which may not be encoded, stays and says so': [
    mail(['Content-Type: message/delivery-status', EIGHT_BIT], 'Reporting-MTA: ü'),
    `${EIGHT_BIT}\r\n\r\nReporting-MTA: ü\r\n`,
    'Content-Transfer-Encoding: 7bit\r\n\r\nReporting-MTA: =C3=BC\r\n',
  ],
  'a fragment of a message stays and says so': [
    mail(['Content-Type: message/partial; id=1; number=1', EIGHT_BIT], 'Subject: ü', '', 'ä'),
    `${EIGHT_BIT}\r\n\r\nSubject: ü\r\n\r\nä\r\n`,
    'Content-Transfer-Encoding: 7bit\r\n\r\nSubject: =C3=BC\r\n\r\n=C3=A4\r\n',
  ],
  'a long header line breaks at a blank of its own': [
    mail([`References: ${Array(90).fill('<a@b.example>').join(' ')}`], 'x'),
    `<a@b.example>\r\n <a@b.example>`,
    '<a@b.e\r\n xample>',
  ],
}
