import { expect, test } from 'bun:test'
import { NO_EXTENSIONS, readExtensions } from './extensions.ts'

test('keywords are recognized in any letter case, the greeting line and unknown ones are ignored', () => {
  const text = 'PIPELINING.test at your service\nStartTLS\n8bitmime\nsmtputf8\nXCLIENT NAME\nchunking'
  const offered = { chunking: true, startTls: true, eightBitMime: true, smtpUtf8: true }
  expect(readExtensions(text)).toEqual({ ...NO_EXTENSIONS, ...offered })
})

test('SIZE gives the limit; 0, no value and an invalid value give none', () => {
  const limit = (line: string) => readExtensions(`mx\n${line}`).maxSizeBytes
  expect(['SIZE 35882577', 'SIZE 0', 'SIZE', 'SIZE x', 'SIZE -1', `SIZE ${'9'.repeat(40)}`].map(limit)).toEqual([
    35_882_577,
    null,
    null,
    null,
    null,
    null,
  ])
  expect(readExtensions('mx\nSIZE').size).toBe(true)
})

test('login mechanisms are collected from AUTH and from the old AUTH=', () => {
  expect(readExtensions('mx\nAUTH PLAIN login\nAUTH=LOGIN').logins).toEqual(['PLAIN', 'LOGIN', 'LOGIN'])
})

test('a server without extensions offers nothing', () => {
  expect(readExtensions('mx.remote.test')).toEqual(NO_EXTENSIONS)
})
