import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NEWEST_SCHEMA } from '../../../src/storage/migrations.ts'
import { connect } from '../../../src/storage/sqlite/driver.ts'
import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation, NeverReady } from '../setup.ts'
import { readStore, startClients } from './books.ts'
import { type Fault, missingFrom, unless } from './fault.ts'
import { inject } from './strace.ts'

/** On a busy machine they take longer than the time that is usually enough. */
const LEAST_MESSAGES = 50

/** Kills an upgrade at many of its writes and fsyncs and repeats it; and starts an older program on a newer store.
 *  The migration rewrites every message. Its code comes from this source, the store from the program. */
export const upgrade: Fault = {
  name: 'upgrade',
  needs: ['strace'],
  rounds: { long: 40, short: 4 },
  run: async ({ rounds, program, scratch }) => {
    const installation = await makeTestInstallation({ program })
    try {
      const server = await installation.serve()
      const clients = startClients(installation, { run: 'old', count: 8, text: 'Hello '.repeat(500) })
      await Bun.sleep(1_500)
      await until('some messages', () => clients.promised.size >= LEAST_MESSAGES)
      await clients.stop()
      server.kill('SIGTERM')
      await exitOf(server)
      const before = readStore(installation.dataDir)
      const file = join(installation.dataDir, 'postrider.db')
      const step = writeStep(scratch)
      const broken: string[] = []
      let killed = 0
      for (let round = 0; round < rounds; round++) {
        const copy = join(scratch, `copy-${round}`, 'postrider.db')
        cpSync(installation.dataDir, join(copy, '..'), { recursive: true })
        const call = round % 2 === 0 ? 'pwrite64' : 'fsync'
        const nth = 1 + Math.floor((round / rounds) * (call === 'fsync' ? 8 : 400))
        const way = inject(call, `signal=KILL:when=${nth}`, join(scratch, 'strace'))
        if ((await runStep([...way, ...step, copy])) !== 0) killed++
        const code = await runStep([...step, copy])
        const { integrity, ids } = readStore(join(copy, '..'))
        const db = connect(copy, { busyTimeoutMs: 0 })
        const raised = db.prepare('select count(*) from messages where raised = 1').pluck().get()
        db.close()
        const lost = missingFrom(before.ids, ids)
        const where = `killed at ${call} ${nth}`
        broken.push(
          ...unless(code === 0, `${where}: the second attempt ended with ${code}`),
          ...unless(integrity === 'ok' && lost.length === 0, `${where}: ${lost.length} lost, integrity ${integrity}`),
          ...unless(raised === ids.size, `${where}: ${raised} of ${ids.size} upgraded`),
          ...unless(existsSync(`${copy}.before-schema-${NEWEST_SCHEMA + 1}`), `${where}: no copy before the upgrade`),
        )
      }
      // The program itself, on the store that the newer code left.
      await runStep([...step, file])
      const hash = hashOf(file)
      const refused = await installation.serve().then(
        () => null,
        (error: unknown) => error as NeverReady,
      )
      const isRefused =
        refused instanceof NeverReady && refused.exitCode === 1 && /newer Postrider/.test(refused.message)
      broken.push(...unless(isRefused, `a newer store is refused, not ${refused}`))
      broken.push(...unless(hashOf(file) === hash, 'a newer store is unchanged'))
      return {
        figures: `${killed} of ${rounds} upgrades killed, ${before.ids.size} messages, all kept and upgraded by the next attempt; newer store refused, unchanged`,
        broken: [...broken, ...unless(killed > 0, 'no kill took effect: nothing was tested')],
      }
    } finally {
      await installation.close()
    }
  },
}

/** A program that runs the migration on the given database. */
function writeStep(scratch: string): string[] {
  const source = join(import.meta.dir, '../../../src/storage')
  const file = join(scratch, 'step.ts')
  writeFileSync(
    file,
    `import { SQLITE_MIGRATIONS } from ${JSON.stringify(join(source, 'migrations.ts'))}
import { connect } from ${JSON.stringify(join(source, 'sqlite/driver.ts'))}
import { migrate } from ${JSON.stringify(join(source, 'sqlite/migrate.ts'))}
const raise = 'alter table messages add column raised integer; update messages set raised = 1;'
const db = connect(process.argv.at(-1), { busyTimeoutMs: 5000 })
migrate(db, 1, [...SQLITE_MIGRATIONS, { name: 'raised', sql: raise }])
db.close()
`,
  )
  return [process.execPath, file]
}

function runStep(command: string[]): Promise<number> {
  return Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' }).exited
}

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
