import { expect, test } from 'bun:test'
import { isSealText } from './seal-text.ts'

const NAME = { domain: 'ours.test', selector: 's1' }
const FIELDS = 'from:a@x.test\r\nsubject:hello\r\n'
const MESSAGE =
  'arc-message-signature:i=1; a=rsa-sha256; c=relaxed/relaxed; d=ours.test; h=From; q=dns/txt; s=s1; t=1; bh=x; b='
const SEAL = 'arc-seal:i=12; a=rsa-sha256; t=1; cv=pass; d=ours.test; s=s1; b='
const judged = (text: string) => isSealText(Buffer.from(text), NAME)

test('accepts both signed fields of an ARC set of the domain', () => {
  expect(judged(FIELDS + MESSAGE)).toBe(true)
  expect(judged(FIELDS + SEAL)).toBe(true)
  expect(judged(SEAL)).toBe(true)
})

// threat: reader-lies
test.each([
  ['a DKIM signature', FIELDS + MESSAGE.replace('arc-message-signature', 'dkim-signature')],
  ['one after a seal', `${FIELDS}${SEAL}\r\ndkim-signature:v=1; a=rsa-sha256; d=ours.test; s=s1; b=`],
  ['a line feed alone before it', `${FIELDS}${SEAL}\ndkim-signature:a=rsa-sha256; i=1; d=ours.test; s=s1; b=`],
  ['another domain', FIELDS + SEAL.replace('ours.test', 'bank.test')],
  ['a second domain', FIELDS + SEAL.replace('d=ours.test', 'd=bank.test; d=ours.test')],
  ['another selector', FIELDS + SEAL.replace('s=s1', 's=s2')],
  ['another algorithm', FIELDS + SEAL.replace('rsa-sha256', 'rsa-sha1')],
  ['no instance', FIELDS + SEAL.replace('i=12; ', '')],
  ['a signature already', `${FIELDS}${SEAL}AAAA`],
  ['a line after it', `${FIELDS}${SEAL}\r\n`],
  ['nothing', ''],
  ['any text', 'hello'],
])('rejects %s', (_, text) => {
  expect(judged(text)).toBe(false)
})
