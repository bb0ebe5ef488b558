/** Mails of about 100 kB, each expensive for another parser, as by a stranger who has read the source. CRLF line
 *  ends, no line over 60 kB, header under 256 KiB. */
export function worstMails(): { name: string; mail: string }[] {
  const head = 'From: a@stranger.example\r\nTo: desk@example.com\r\nSubject: x\r\n'
  const report = `${head}Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\r\n`
  // In base64 the text may contain what SMTP refuses, such as a bare CR.
  const bounce = (opening: string, lines: string) =>
    'From: Mail Delivery System <mailer-daemon@stranger.example>\r\nSubject: Undelivered\r\n' +
    'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
    `${Buffer.from(`${opening}\n${lines}`).toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`
  const html = (body: string) => `${head}Content-Type: text/html\r\n\r\n${folded(body)}\r\n`
  const field = (name: string, value: string) => `${name}: ${value}\r\n${head}\r\nx\r\n`
  const line = `<x${'@'.repeat(330)}>:${'\t'.repeat(655)}\rx`
  return Object.entries({
    'brackets and tabs in a bounce of Postfix': bounce('This is the mail system at host x.', `${line}\n`.repeat(64)),
    'brackets and tabs in a bounce of qmail': bounce('Hi. This is the x program at y.', `${line}\n`.repeat(64)),
    'blanks in a bounce of Exim': bounce(`A message that you sent could not be delivered to${' '.repeat(60_000)}`, 'x'),
    'delays in a bounce': bounce(
      'This is the mail system at host x.',
      'will will will not not been has '.repeat(2_000),
    ),
    'statuses in a bounce': bounce(
      'This is the mail system at host x.',
      `<a@b.example>: ${'#5.1.1 550-'.repeat(80)}\n`.repeat(64),
    ),
    'blanks in a report': `${report}${`${' '.repeat(990)}:\r\n`.repeat(95)}`,
    'replies in a report': `${report}${'550 5.1.1 '.repeat(9_000)}\r\n`.slice(0, 59_000),
    'statuses in a report': `${report}--b\r\nContent-Type: message/delivery-status\r\n\r\n${'Final-Recipient: rfc822; a@b\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n'.repeat(1_400)}`,
    'open comments': field('From', '('.repeat(50_000)),
    'open quotes': field('From', '"\\'.repeat(25_000)),
    'many addresses': field('To', Array.from({ length: 4_000 }, (_, n) => `"a b" <a${n}@b.example>`).join(',\r\n ')),
    'many commas': field('To', ','.repeat(50_000)),
    'encoded words': field('Subject', '=?utf-8?q?=41?= '.repeat(3_500)),
    'half encoded words': field('Subject', '=?'.repeat(25_000)),
    'many parameters': field(
      'Content-Type',
      `text/plain;${Array.from({ length: 4_000 }, (_, n) => ` a${n}=b;`).join('')}`,
    ),
    'continued parameters': field(
      'Content-Type',
      `text/plain;${Array.from({ length: 3_000 }, (_, n) => ` n*${n}*=%41;`).join('')}`,
    ),
    signatures: `${signature('h', 4_500).repeat(5)}${'X: y\r\n'.repeat(4_900)}${head}\r\nx\r\n`,
    'a thousand signatures': `${signature('h', 3).repeat(900)}${head}\r\nx\r\n`,
    'lengths of signed bodies': `${Array.from({ length: 20 }, (_, n) => lengthSigned(n)).join('')}${head}\r\n${'a b \t\r\n'.repeat(13_000)}`,
    'names of signatures': `${Array.from({ length: 20 }, (_, n) => `DKIM-Signature: v=1; a=rsa-sha256; d=${foreignName(900, n)}; s=s; bh=x; b=x; h=from\r\n`).join('')}${head}\r\nx\r\n`,
    'foreign authors': `From: ${Array.from({ length: 30 }, (_, n) => `a@${foreignName(900, n)}`).join(',\r\n ')}\r\n\r\nx\r\n`,
    'foreign names in a report': `${report}--b\r\nContent-Type: message/delivery-status\r\n\r\n${Array.from({ length: 30 }, (_, n) => `Final-Recipient: rfc822; a@${foreignName(900, n)}\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n`).join('')}`,
    seals: `${Array.from({ length: 60 }, (_, n) => seal(n + 1)).join('')}${head}\r\nx\r\n`,
    'deep parts': Array.from(
      { length: 600 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    ).join(''),
    'many parts': `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(9_000)}`,
    'mails in mails': 'Content-Type: message/rfc822\r\n\r\n'.repeat(2_500),
    'many boundaries':
      `${head}Content-Type: multipart/mixed; boundary=-\r\n\r\n${'-'.repeat(900)}\r\n`.padEnd(200) +
      `${'-'.repeat(900)}\r\n`.repeat(100),
    brackets: html('<'.repeat(95_000)),
    'open tags': html('<a b="'.repeat(15_000)),
    'open comments in html': html('<!--'.repeat(24_000)),
    'deep html': html('<div>'.repeat(19_000)),
    entities: html('&#'.repeat(48_000)),
    styles: html(`<style>${'a{b:url('.repeat(11_000)}</style>`),
    tables: html('<table><tr><td>'.repeat(6_300)),
    'blanks in an address': html(`<a href="${' '.repeat(90_000)}x">y</a>`),
    'utf-7': `${head}Content-Type: text/plain; charset=utf-7\r\n\r\n${folded('+'.repeat(90_000))}`,
    quoted: `${head}Content-Transfer-Encoding: quoted-printable\r\n\r\n${folded('='.repeat(90_000))}`,
    'many fields': `${'A: b\r\n'.repeat(15_000)}${head}\r\nx\r\n`,
    'one long field': field('X', `${' x'.repeat(400)}\r\n`.repeat(110)),
    'a calendar': `${head}Content-Type: text/calendar\r\n\r\n${'BEGIN:VCALENDAR\r\n'.repeat(5_000)}`,
  }).map(([name, mail]) => ({ name, mail: mail.replace(/^\./gm, '..') }))
}

const folded = (text: string) => text.replace(/.{900}/gs, '$&\r\n')

function signature(name: string, count: number): string {
  const names = Array.from({ length: count }, (_, n) => `${name}${n}`).join(':\r\n ')
  return `DKIM-Signature: v=1; a=rsa-sha256; d=stranger.example; s=s; bh=x; b=x; h=${names.slice(0, 45_000)}\r\n`
}

/** Each length requires a separate body hash. */
function lengthSigned(n: number): string {
  return `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=stranger.example; s=s; bh=x; b=x; h=from; l=${n}\r\n`
}

/** A name whose A-label takes quadratic work. */
function foreignName(characters: number, seed: number): string {
  const points = Array.from({ length: characters }, (_, n) => 0x4e00 + ((n * 7_919 + seed) % 20_000))
  return `${String.fromCharCode(...points)}.example`
}

function seal(n: number): string {
  const tags = `i=${n}; a=rsa-sha256; d=stranger.example; s=s; b=x`
  return (
    `ARC-Seal: ${tags}; cv=pass\r\nARC-Message-Signature: ${tags}; c=relaxed/relaxed; h=from:to:subject; bh=x\r\n` +
    `ARC-Authentication-Results: i=${n}; mx.example; dkim=pass\r\n`
  )
}
