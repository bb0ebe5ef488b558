import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ListenFailure } from './listeners.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-listeners-'))
afterAll(() => rmSync(folder, { recursive: true }))

const failure = (fields: object) =>
  new ListenFailure('smtp.inbound.listen', { host: '127.0.0.1', port: 25 }, Object.assign(new Error('x'), fields))

test('a port without the right to it says who the process is and what to do', () => {
  expect(failure({ code: 'EACCES' }).message).toMatch(
    /^smtp\.inbound\.listen: no permission to listen on 127\.0\.0\.1:25: this process has uid \d+ and gid \d+, and ports below 1024 require CAP_NET_BIND_SERVICE\. Run it as a service/,
  )
})

test('a used port says how to find its program', () => {
  expect(failure({ code: 'EADDRINUSE' }).message).toEndWith('Find it as root: ss -lntup sport = :25')
})

test('a spool that cannot be used is named instead of the port', () => {
  const path = join(folder, 'spool')
  expect(failure({ code: 'EACCES', path }).message).toStartWith(
    `smtp.inbound.listen: ${path}: permission denied: this process has uid`,
  )
  expect(failure({ code: 'ENOSPC', path }).message).toBe(
    `smtp.inbound.listen: ${path}: no space left on the device. Free some space`,
  )
})
