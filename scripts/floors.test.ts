import { describe, expect, test } from 'bun:test'
import { importsOf, offencesIn } from './floors.ts'

const messages = (file: string, text: string) =>
  offencesIn(file, text).map(({ line, message }) => `${line}: ${message}`)

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

describe('floors', () => {
  const allowed: [file: string, text: string][] = [
    ['mail/dsn.ts', "import { a } from './address.ts'"],
    ['config.ts', "import { a } from './config/read.ts'"],
    ['config/read.ts', "import { parse } from 'smol-toml'"],
    [
      'model/message.ts',
      "import type { Address } from '../mail/address.ts'\nimport { mintId } from '../platform/ids.ts'",
    ],
    ['storage/sqlite/messages.ts', "import { a } from '../../model/message.ts'\nimport type { D } from './open.ts'"],
    [
      'outbound/loop.ts',
      "import type { Store } from '../storage/store.ts'\nimport { createLoop } from '../platform/loop.ts'",
    ],
    ['webhooks/loop.ts', "import { type Store, StoreUnavailable } from '../storage/store.ts'"],
    ['api/routes/messages.ts', "import { accept } from '../../submission/accept.ts'"],
    ['ground.ts', "import { open } from './storage/sqlite/open.ts'\nimport { api } from './api/server.ts'"],
    ['house.ts', "new Worker(new URL('./outbound/worker.ts', import.meta.url).href)"],
    ['cli/version.ts', "import { open } from '../storage/sqlite/open.ts'\nimport pkg from '../../package.json'"],
    ['storage/sqlite/driver.ts', "const D = require('better-sqlite3/linux-x64')"],
    ['mail/dsn.test.ts', "import { house } from '../house.ts'\nDate.now()"],
    ['platform/clock.ts', 'Date.now()'],
    ['api/page.ts', 'const at = new Date(cursor)\n// not Date.now()\n * nor Math.random()'],
  ]
  test.each(allowed)('%s may say: %s', (file, text) => {
    expect(messages(file, text)).toEqual([])
  })

  const forbidden: [file: string, text: string, message: string][] = [
    ['mail/dsn.ts', "import { a } from '../platform/ids.ts'", 'mail may not use platform/ids.ts: floor 0'],
    [
      'platform/ids.ts',
      "import type { M } from '../model/message.ts'",
      'platform may not use model/message.ts: floor 0',
    ],
    ['model/message.ts', "import { parse } from '../mail/address.ts'", 'model uses types of mail and platform/ids.ts'],
    ['model/message.ts', "import type { Clock } from '../platform/clock.ts'", 'model uses types of mail'],
    ['storage/store.ts', "import type { Config } from '../config.ts'", 'storage uses model, mail and platform'],
    ['outbound/loop.ts', "import { wake } from '../webhooks/loop.ts'", 'floor 3 may use only floors below it'],
    ['outbound/loop.ts', "import { errors } from '../api/errors.ts'", 'floor 3 may use only floors below it'],
    [
      'outbound/loop.ts',
      "import { type Store, openStore } from '../storage/store.ts'",
      'of storage only the types of storage/store.ts',
    ],
    ['api/auth.ts', "import type { R } from '../storage/sqlite/rows.ts'", 'of storage only the types'],
    ['api/auth.ts', "import { open } from '../storage/sqlite/open.ts'", 'only ground.ts and cli open the store'],
    ['api/auth.ts', "import { server } from '../inbound/server.ts'", 'floor 4 may use only floors below it'],
    ['api/auth.ts', "import x from '../../scripts/x.ts'", '../../scripts/x.ts leaves src'],
    ['main.ts', "import { open } from './storage/sqlite/open.ts'", 'only ground.ts and cli open the store'],
    ['client/client.ts', "import type { E } from '../model/event.ts'", 'the client stands alone'],
    ['helpers/x.ts', '', 'no floor is known for the room helpers'],
    ['platform/resolver.ts', "import { lookup } from 'node:dns/promises'", 'node:dns/promises is not used'],
    ['house.ts', "import D from 'better-sqlite3'", 'only storage/sqlite/driver.ts imports better-sqlite3'],
    ['storage/sqlite/open.ts', "import { Database } from 'bun:sqlite'", 'a second SQLite'],
    ['outbound/loop.ts', 'const now = Date.now()', 'Date.now() outside platform'],
    ['outbound/workers.ts', "new Worker(new URL('./worker.ts', import.meta.url))", 'only from a file directly in src'],
    ['house.ts', 'const jitter = Math.random()', 'Math.random() outside platform'],
    ['api/auth.ts', 'const at = new Date()', 'new Date() outside platform'],
  ]
  test.each(forbidden)('%s may not say: %s', (file, text, message) => {
    const told = messages(file, `// a comment\n${text}`)
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(message)
    expect(told[0]).toStartWith(text === '' ? '1: ' : '2: ')
  })
})
