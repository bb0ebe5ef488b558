import { describe, expect, test } from 'bun:test'
import { createPrivateKey } from 'node:crypto'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import { generateDkimKeyPair } from '../../test/support/dkim-keys.ts'
import { type DkimKey, dkimRecordValue, signDkim } from './dkim.ts'

const SIGNED_AT = 1_790_000_000_999
const zone = new Map<string, string>()
const rsa = publishedKey('rsa-sha256', 'r1')
const ed25519 = publishedKey('ed25519-sha256', 'e1')

const HEAD = 'From: Ann <ann@own.example>\r\nTo: bob@other.example\r\nSubject: Hello\r\n'
const BODIES: Record<string, string> = {
  ordinary: 'Hello Bob\r\n\r\nhow are you?\r\n',
  'empty, with the blank line': '',
  'one empty line': '\r\n',
  'only empty lines': '\r\n\r\n\r\n',
  'only blanks': ' \t \r\n\t\r\n ',
  'trailing blank lines': 'Hello\r\n\r\n\r\n\r\n',
  'tabs and runs of spaces': 'a\t\tb  \t c\r\n  indented\r\n',
  'trailing spaces': 'a   \r\nb\t\r\n   \r\n',
  'no CRLF at the end': 'Hello\r\nBob',
  'blanks at the end without CRLF': 'Hello\r\nBob  \t',
  'UTF-8': 'Grüße à\r\n– 🙂 à \r\n',
  'lines of dots': '.\r\n..\r\n. .\r\n',
  'more than one piece of the hash': `${'0123456789 \t'.repeat(8)}\r\n\r\n`.repeat(3000),
  'many empty lines inside': `a${'\r\n'.repeat(100_000)}b\r\n`,
}

describe('signatures', () => {
  test.each(Object.entries(BODIES))('of RSA and Ed25519 both verify: body %s', async (_, body) => {
    expect(await verdicts(signed(`${HEAD}\r\n${body}`))).toEqual(['pass', 'pass'])
  })

  test('verify over folded, repeated and oddly spaced header fields', async () => {
    const head =
      'FROM :  =?UTF-8?Q?J=C3=BCrgen?=\r\n\t<ann@own.example>  \r\nReferences: <a@b>\r\n <c@d>\r\n\t<e@f>\r\n' +
      'Subject: \r\n folded   subject \t here\r\nReceived: one\r\nReceived: two\r\nReply-To: a@x.example\r\n' +
      'Reply-To: b@x.example\r\nFeedback-ID: 1:2:3:4\r\nList-Unsubscribe: <https://x.example/u>\r\n' +
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nX-Other: ü\r\n'
    const message = signed(`${head}\r\nbody\r\n`)
    expect(await verdicts(message)).toEqual(['pass', 'pass'])
    expect(unfolded(message)).toContain(
      'h=from:from:sender:reply-to:reply-to:reply-to:to:cc:subject:subject:date:message-id:in-reply-to:' +
        'references:references:mime-version:content-type:content-transfer-encoding:content-disposition:' +
        'disposition-notification-to:list-id:list-post:list-unsubscribe:list-unsubscribe:' +
        'list-unsubscribe-post:list-unsubscribe-post:feedback-id:feedback-id;',
    )
  })

  test('keep every byte of a UTF-8 header field, no-break space look-alikes included', async () => {
    expect(await verdicts(signed('From: jos\u00e0 <\u00e0@own.example>\r\nSubject: voil\u00e0\r\n\r\nx\r\n'))).toEqual([
      'pass',
      'pass',
    ])
  })

  test('verify on a message without a body and without a blank line', async () => {
    expect(await verdicts(signed(HEAD))).toEqual(['pass', 'pass'])
  })

  test('break when a From field is added, a signed field or the body changes', async () => {
    const message = signed(`${HEAD}\r\nHello\r\n`)
    expect(await verdicts(`From: eve@evil.example\r\n${message}`)).not.toContain('pass')
    expect(await verdicts(message.replace('Subject: Hello', 'Subject: Hallo'))).not.toContain('pass')
    expect(await verdicts(`${message}more\r\n`)).not.toContain('pass')
  })

  test('verify over any mixture of blanks and line ends', async () => {
    const bits = fc.constantFrom(' ', '  ', '\t', '\r\n', 'a', 'bc', 'ü')
    await fc.assert(
      fc.asyncProperty(fc.array(bits, { maxLength: 12 }), async (body) => {
        expect(await verdicts(signed(`${HEAD}\r\n${body.join('')}`, [ed25519]))).toEqual(['pass'])
      }),
      { numRuns: 200, seed: 1 },
    )
  })

  test('verify over header fields of any author, folded and spaced as they like', async () => {
    const name = fc.constantFrom(
      'To',
      'CC',
      'Subject ',
      'Date\t',
      'message-ID',
      'References',
      'X-Y',
      'Content-Type',
      'Reply-To',
    )
    const bits = fc.constantFrom(
      ' ',
      '\t',
      '\r\n ',
      '\r\n\t',
      '\r\n  \r\n ',
      'a',
      ':',
      ';',
      '<b@c.example>',
      'ü',
      '\u00a0',
      ',',
    )
    const field = fc.tuple(name, fc.array(bits, { maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(fc.array(field, { maxLength: 6 }), async (fields) => {
        const head = fields.map(([name, value]) => `${name}:${value.join('')}\r\n`).join('')
        expect(await verdicts(signed(`${head}From: a@own.example\r\n\r\nx\r\n`, [ed25519]))).toEqual(['pass'])
      }),
      { numRuns: 300, seed: 2 },
    )
  })

  test('survive what relaxed canonicalisation allows', async () => {
    const message = signed(`${HEAD}\r\nHello  Bob\r\n`)
    expect(
      await verdicts(message.replace('Hello  Bob', 'Hello Bob \t').replace('Subject: ', 'SUBJECT:\r\n\t')),
    ).toEqual(['pass', 'pass'])
  })
})

describe('the header field', () => {
  test('keeps to 78 characters a line and holds neither i=, x= nor l=', () => {
    const fields = new TextDecoder().decode(signDkim(Buffer.from(`${HEAD}\r\nx`), [rsa, ed25519], SIGNED_AT))
    expect(fields.split('\r\n').every((line) => line.length <= 78)).toBe(true)
    expect(fields).not.toMatch(/[; ](?:i|x|l)=/)
    expect(fields.match(/^DKIM-Signature: /gm)).toHaveLength(2)
    expect(fields).toContain('t=1790000000;')
  })

  test('is always the same for a fixed key, message and time', async () => {
    const key: DkimKey = {
      domain: 'own.example',
      selector: 'fixed',
      algorithm: 'ed25519-sha256',
      // The private key of RFC 8463 appendix A.2.
      privateKey: createPrivateKey({
        key: Buffer.concat([
          Buffer.from('302e020100300506032b657004220420', 'hex'),
          Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64'),
        ]),
        format: 'der',
        type: 'pkcs8',
      }),
    }
    const field = new TextDecoder().decode(signDkim(Buffer.from(`${HEAD}\r\nHello\r\n`), [key], SIGNED_AT))
    expect(field).toBe(FIXED)
    // … and its public key.
    zone.set('fixed._domainkey.own.example', 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=')
    expect(await verdicts(`${FIXED}${HEAD}\r\nHello\r\n`)).toEqual(['pass'])
  })

  test('is empty without keys', () => {
    expect(signDkim(Buffer.from(HEAD), [], SIGNED_AT)).toHaveLength(0)
  })

  test('uses another RSA signer if given', async () => {
    const inputs: number[] = []
    const fields = signDkim(Buffer.from(`${HEAD}\r\nx\r\n`), [rsa, ed25519], SIGNED_AT, (input) => {
      inputs.push(input.length)
      return new Uint8Array(256)
    })
    expect(inputs).toHaveLength(1)
    expect(await verdicts(`${new TextDecoder().decode(fields)}${HEAD}\r\nx\r\n`)).toEqual(['fail', 'pass'])
  })

  test('refuses a domain with a line end and a key of the other algorithm', () => {
    const raw = Buffer.from(`${HEAD}\r\nx`)
    expect(() => signDkim(raw, [{ ...rsa, domain: 'own.example\r\nX: y' }], SIGNED_AT)).toThrow('invalid DKIM domain')
    expect(() => signDkim(raw, [{ ...rsa, algorithm: 'ed25519-sha256' }], SIGNED_AT)).toThrow('is not for')
  })
})

test('publishes the 32 raw bytes of an Ed25519 key', () => {
  const { publicKeyBase64 } = generateDkimKeyPair('ed25519-sha256')
  expect(Buffer.from(publicKeyBase64, 'base64')).toHaveLength(32)
  expect(dkimRecordValue('ed25519-sha256', publicKeyBase64)).toBe(`v=DKIM1; k=ed25519; p=${publicKeyBase64}`)
})

const FIXED = [
  'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; d=own.example;',
  ' s=fixed; t=1790000000;',
  ' h=from:from:sender:reply-to:to:to:cc:subject:subject:date:message-id:',
  '  in-reply-to:references:mime-version:content-type:',
  '  content-transfer-encoding:content-disposition:disposition-notification-to:',
  '  list-id:list-post:list-unsubscribe:list-unsubscribe-post:feedback-id;',
  ' bh=Ba3gj8+xBPQLJTahTfzW6RbWQ/XPgESxkCi2B66PSQg=;',
  ' b=ji2yZigS7Me1SsOVAkEWPmwIah0mPctGjDSbP6h6izQ+4W+C+Ylxd9yJ0wpLwNLD23eackgoG',
  '  pGx2o0k6LsYBA==',
  '',
].join('\r\n')

function publishedKey(algorithm: DkimKey['algorithm'], selector: string): DkimKey {
  const { privateKeyPem, publicKeyBase64 } = generateDkimKeyPair(algorithm)
  zone.set(`${selector}._domainkey.own.example`, dkimRecordValue(algorithm, publicKeyBase64))
  return { domain: 'own.example', selector, algorithm, privateKey: createPrivateKey(privateKeyPem) }
}

function signed(message: string, keys = [rsa, ed25519]): string {
  const raw = Buffer.from(message)
  return Buffer.concat([signDkim(raw, keys, SIGNED_AT), raw]).toString()
}

function unfolded(message: string): string {
  return message.replace(/\r\n[ \t]+/g, '')
}

/** Results of an independent verifier, in the order of the header fields. */
async function verdicts(message: string): Promise<string[]> {
  const verified = await dkimVerify(Buffer.from(message), {
    resolver: async (name: string) => {
      const record = zone.get(name)
      if (record === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      return [record.match(/.{1,255}/g)!]
    },
    curTime: new Date(SIGNED_AT),
  } as never)
  return verified.results.map((result: { status: { result: string } }) => result.status.result)
}
