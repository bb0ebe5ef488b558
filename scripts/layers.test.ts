import { describe, expect, test } from 'bun:test'
import { circlesIn, cyclesIn, faultsIn, importsOf } from './layers.ts'

const messages = (file: string, text: string) => faultsIn(file, text).map(({ line, message }) => `${line}: ${message}`)

describe('imports', () => {
  test('are found in every form, with their lines', () => {
    const text = `import a from './a.ts'
import type { B } from './b.ts'
import { type C, type D } from './c.ts'
import {
  type E,
  f,
} from './e.ts'
import './g.ts'
import * as h from "./h.ts"
import page from './i.html' with { type: 'text' }
export { j } from './j.ts'
export type { K } from './k.ts'
export * from './l.ts'
const m = await import('./m.ts')
const n = require('better-sqlite3/linux-x64')
import type from './o.ts'
export const p = 'import x from "./p.ts"'
// import('./q.ts')
export default './r.ts'
`
    expect(importsOf(text).map(({ specifier, line, values }) => [specifier, line, values.join(' ')])).toEqual([
      ['./a.ts', 1, '*'],
      ['./b.ts', 2, ''],
      ['./c.ts', 3, ''],
      ['./e.ts', 4, 'f'],
      ['./g.ts', 8, '*'],
      ['./h.ts', 9, '*'],
      ['./i.html', 10, '*'],
      ['./j.ts', 11, 'j'],
      ['./k.ts', 12, ''],
      ['./l.ts', 13, '*'],
      ['./o.ts', 16, '*'],
      ['./m.ts', 14, '*'],
      ['better-sqlite3/linux-x64', 15, '*'],
    ])
  })
})

describe('layers', () => {
  const allowed: [file: string, text: string][] = [
    ['mail/dsn.ts', "import { a } from './address.ts'"],
    ['config/load.ts', "import { a } from './read.ts'"],
    ['config/read.ts', "import { parse } from 'smol-toml'"],
    ['model/message.ts', "import type { Address } from '../mail/address.ts'\nimport { mintId } from '../os/ids.ts'"],
    ['storage/sqlite/messages.ts', "import { a } from '../../model/message.ts'\nimport type { D } from './open.ts'"],
    [
      'sending/outbound/queue.ts',
      "import type { Store } from '../../storage/store.ts'\nimport { createLoop } from '../../os/loop.ts'",
    ],
    [
      'events/webhooks/loop.ts',
      "import { AlreadyRemembered, type Store, StoreUnavailable } from '../../storage/store.ts'",
    ],
    ['web/api/routes/messages-send.ts', "import { accept } from '../../../sending/submission/submission.ts'"],
    [
      'server/resources.ts',
      "import { open } from '../storage/sqlite/open.ts'\nimport { api } from '../web/api/server.ts'",
    ],
    ['threads.ts', "new Worker(new URL('./sending/outbound/worker.ts', import.meta.url).href)"],
    ['cli/version.ts', "import { open } from '../storage/sqlite/open.ts'\nimport pkg from '../../package.json'"],
    ['storage/sqlite/driver.ts', "const D = require('better-sqlite3/linux-x64')"],
    ['mail/dsn.test.ts', "import { assemble } from '../server/server.ts'\nDate.now()"],
    ['os/clock.ts', 'Date.now()'],
    ['web/api/page.ts', 'const at = new Date(cursor)\n// not Date.now()\n * nor Math.random()'],
  ]
  test.each(allowed)('allows %s: %s', (file, text) => {
    expect(messages(file, text)).toEqual([])
  })

  const forbidden: [file: string, text: string, message: string][] = [
    ['mail/dsn.ts', "import { a } from '../os/ids.ts'", 'mail may not use os/ids.ts: layer 0'],
    ['os/ids.ts', "import type { M } from '../model/message.ts'", 'os may not use model/message.ts: layer 0'],
    [
      'model/message.ts',
      "import { parse } from '../mail/compose.ts'",
      'model uses types of mail, mail/address.ts and os/ids.ts',
    ],
    ['model/message.ts', "import type { Clock } from '../os/clock.ts'", 'model uses types of mail'],
    ['storage/store.ts', "import type { Config } from '../config/load.ts'", 'storage uses model, mail, os and net'],
    [
      'sending/outbound/queue.ts',
      "import { wake } from '../../events/webhooks/loop.ts'",
      'layer 3 may use only lower layers',
    ],
    [
      'sending/outbound/queue.ts',
      "import { errors } from '../../web/api/errors.ts'",
      'layer 3 may use only lower layers',
    ],
    [
      'sending/outbound/queue.ts',
      "import { type Store, openStore } from '../../storage/store.ts'",
      'of storage only the types of storage/store.ts',
    ],
    ['web/api/auth.ts', "import type { R } from '../../storage/sqlite/rows.ts'", 'of storage only the types'],
    ['web/api/auth.ts', "import { open } from '../../storage/sqlite/open.ts'", 'only server and cli open the store'],
    [
      'web/api/auth.ts',
      "import { server } from '../../receiving/inbound/server.ts'",
      'layer 4 may use only lower layers',
    ],
    ['web/api/auth.ts', "import x from '../../../scripts/x.ts'", '../../../scripts/x.ts leaves src'],
    ['main.ts', "import { open } from './storage/sqlite/open.ts'", 'only server and cli open the store'],
    ['client/client.ts', "import type { E } from '../model/event.ts'", 'the client stands alone'],
    ['client/client.ts', "import { a } from './templates/fault.ts'", 'the client stands alone'],
    ['helpers/x.ts', '', 'helpers has no layer'],
    ['net/dns/resolver.ts', "import { lookup } from 'node:dns/promises'", 'node:dns/promises is not used'],
    ['server/server.ts', "import D from 'better-sqlite3'", 'only storage/sqlite/driver.ts imports better-sqlite3'],
    ['storage/sqlite/open.ts', "import { Database } from 'bun:sqlite'", 'a second SQLite'],
    ['sending/outbound/queue.ts', 'const now = Date.now()', 'Date.now() outside os'],
    [
      'sending/outbound/workers.ts',
      "new Worker(new URL('./worker.ts', import.meta.url))",
      'only from a file directly in src',
    ],
    ['server/server.ts', 'const jitter = Math.random()', 'Math.random() outside os'],
    ['web/api/auth.ts', 'const at = new Date()', 'new Date() outside os'],
  ]
  test.each(forbidden)('reports %s: %s', (file, text, message) => {
    const reported = messages(file, `// a comment\n${text}`)
    expect(reported).toHaveLength(1)
    expect(reported[0]).toContain(message)
    expect(reported[0]).toStartWith(text === '' ? '1: ' : '2: ')
  })
})

test('reports files that import each other once, by the path of the cycle', () => {
  const files = new Map([
    ['mail/a.ts', "import type { B } from './b.ts'\nimport { d } from './d.ts'"],
    ['mail/b.ts', "import { c } from '../os/c.ts'"],
    ['os/c.ts', "import { z } from 'zod'\nimport type { A } from '../mail/a.ts'"],
    ['mail/d.ts', "import { c } from '../os/c.ts'"],
  ])
  expect(cyclesIn(files)).toEqual([
    { file: 'os/c.ts', line: 2, message: 'circular import: mail/a.ts → mail/b.ts → os/c.ts → mail/a.ts' },
  ])
  files.set('os/c.ts', '')
  expect(cyclesIn(files)).toEqual([])
})

test('modules that import each other are found, also through others, on call and for types', () => {
  const files = new Map([
    [
      'server/http.ts',
      "import { files } from '../web/manual/files.ts'\nimport { run } from '../operating/checkup/run.ts'",
    ],
    ['web/manual/files.ts', "export const files = () => import('../../cli/tree.ts')"],
    ['cli/tree.ts', "import type { Server } from '../server/http.ts'"],
    [
      'operating/checkup/run.ts',
      "import { relays } from '../../server/relays.ts'\nimport { a } from '../../os/clock.ts'",
    ],
    ['os/clock.ts', "import { b } from '../net/ip.ts'"],
    ['net/ip.ts', "import { a } from '../os/clock.ts'"],
  ])
  expect(circlesIn(files).map(({ file, line, message }) => `${file}:${line}: ${message}`)).toEqual([
    'server/http.ts:1: circle of modules: server and operating/checkup → web/manual → cli → server and operating/checkup',
    'web/manual/files.ts:1: circle of modules: web/manual → cli → server and operating/checkup → web/manual',
    'cli/tree.ts:1: circle of modules: cli → server and operating/checkup → web/manual → cli',
  ])
  files.set('web/manual/files.ts', '')
  expect(circlesIn(files)).toEqual([])
})
