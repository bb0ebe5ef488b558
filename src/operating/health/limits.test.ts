import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckDeps, Installation } from './deps.ts'
import { checkMemory, checkOpenFiles } from './limits.ts'

let proc: string
beforeAll(() => {
  proc = mkdtempSync(join(tmpdir(), 'postrider-proc-'))
  for (const pid of ['self', '7']) mkdirSync(join(proc, pid))
})
afterAll(() => rmSync(proc, { recursive: true }))

const SERVER = { pid: 7 } as Installation['server']
const deps = () => ({ proc, sys: proc }) as CheckDeps
const installation = (change: Partial<Installation> = {}) =>
  ({ server: null, memoryBytes: 0, messageBytes: 25_000_000, ...change }) as Installation

describe('the limit of open files', () => {
  const check = (soft: string, hard: string, server: Installation['server'] = null) => {
    const pid = server === null ? 'self' : '7'
    writeFileSync(join(proc, pid, 'limits'), `Limit  Soft  Hard\nMax open files  ${soft}  ${hard}  files\n`)
    const verdict = checkOpenFiles(installation({ server }), deps())
    return [verdict.status, verdict.message]
  }

  test('is the hard one of this process, and the soft one of a running server', () => {
    expect(check('1024', '65536')).toEqual(['pass', '65536'])
    expect(check('1024', '65536', SERVER)).toEqual(['warn', '1024'])
    expect(check('1024', 'unlimited')).toEqual(['pass', 'no limit'])
  })

  test.each([
    [4096, 'pass'],
    [4095, 'warn'],
    [512, 'warn'],
    [511, 'fail'],
  ])('of %d is a %s', (limit, status) => {
    expect(check('1', String(limit))).toEqual([status, String(limit)])
  })

  test('comes with advice when it is low, and is skipped when the kernel does not report it', () => {
    writeFileSync(join(proc, 'self/limits'), 'Max open files  1  100  files\n')
    expect(checkOpenFiles(installation(), deps())).toMatchObject({
      message: '100',
      advice: 'With systemd, set LimitNOFILE=65536 in the unit (the unit from `postrider init` includes it).',
    })
    expect(checkOpenFiles(installation(), { ...deps(), proc: '/nonexistent' }).status).toBe('skip')
  })
})

describe('memory', () => {
  const check = (availableKb: number, change: Partial<Installation> = {}) => {
    writeFileSync(join(proc, 'meminfo'), `MemTotal:  8000000 kB\nMemAvailable:  ${availableKb} kB\n`)
    return checkMemory(installation(change), deps())
  }

  test.each<[number, Installation['server'], string]>([
    [250_000, null, 'pass'],
    [249_999, null, 'warn'],
    [93_750, null, 'warn'],
    [93_749, null, 'fail'],
    [93_750, SERVER, 'pass'],
    [93_749, SERVER, 'fail'],
  ])('of %d kB with the server %j is a %s', (availableKb, server, status) => {
    expect(check(availableKb, { server }).status).toBe(status as never)
  })

  test('is described with the limit of the server', () => {
    expect(check(1_000_000)).toMatchObject({
      status: 'pass',
      message: '1024 MB available, at most 7168 MB for the server',
    })
    expect(check(1_000_000, { memoryBytes: 2e9 }).message).toBe('1024 MB available, at most 2000 MB for the server')
    expect(check(100_000)).toMatchObject({
      status: 'warn',
      message: '102 MB available',
      advice: 'A busy server needs 100 to 300 MB. Stop other programs, add swap, or use a larger machine.',
    })
  })

  test('that cannot hold the largest message is a warning with the size that fits', () => {
    const verdict = check(1_000_000, { memoryBytes: 300e6, messageBytes: 100e6 })
    expect([verdict.status, verdict.message]).toEqual(['warn', '1024 MB available, at most 300 MB for the server'])
    const fitting = Number(/set limits\.message_bytes to (\d+)\.$/.exec(verdict.advice ?? '')?.[1])
    expect(fitting % 1e6).toBe(0)
    expect(check(1_000_000, { memoryBytes: 300e6, messageBytes: fitting }).status).toBe('pass')
    expect(check(1_000_000, { memoryBytes: 300e6, messageBytes: fitting + 1e6 }).status).toBe('warn')
  })

  test('is skipped when the kernel does not report it', () => {
    writeFileSync(join(proc, 'meminfo'), '')
    expect(checkMemory(installation(), deps()).status).toBe('skip')
  })
})
