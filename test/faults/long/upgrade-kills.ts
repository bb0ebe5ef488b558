import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pkg from '../../../package.json' with { type: 'json' }
import { NEWEST_SCHEMA } from '../../../src/storage/migrations.ts'
import { NEXT_VERSION } from '../../support/next-version.ts'
import {
  makeNextRelease,
  makeUpgradedServer,
  type NextRelease,
  type UpgradedServer,
} from '../../support/upgraded-server.ts'
import { type Fault, missingFrom, unless } from './fault.ts'
import { inject } from './strace.ts'

/** Kills `postrider upgrade` before each rename and link of its main thread, once with a new version that serves and once with
 *  one that ends before it is ready. Each time the server must start, and the next call must finish. */
export const upgradeKills: Fault = {
  name: 'upgrade.kills',
  needs: ['strace'],
  rounds: { long: 15, short: 3 },
  run: async ({ rounds }) => {
    const release = await makeNextRelease()
    try {
      const broken: string[] = []
      let killed = 0
      for (const point of spread(POINTS, rounds)) {
        const found = await killAt(point, release)
        if (found.wasKilled) killed++
        broken.push(...found.broken.map((line) => `${point.breaks || 'serving'}, ${point.call} ${point.nth}: ${line}`))
      }
      return {
        figures: `${killed} upgrades killed; each server started, and the next call finished or went back`,
        broken: [...broken, ...unless(killed === Math.min(rounds, POINTS.length), 'a kill took no effect')],
      }
    } finally {
      release.remove()
    }
  },
}

interface Point {
  breaks: '' | 'exit'
  call: 'rename' | 'link'
  nth: number
}

const points = (breaks: Point['breaks'], call: Point['call'], first: number, last: number): Point[] =>
  Array.from({ length: last - first + 1 }, (_, at) => ({ breaks, call, nth: first + at }))

/** Journal, previous program, program, journal, record, folder; and on the way back journal, database, program, record, folder
 *  after the first four. */
const POINTS: readonly Point[] = [
  ...points('', 'rename', 3, 6),
  ...points('exit', 'rename', 5, 9),
  ...points('', 'rename', 1, 2),
  ...points('', 'link', 1, 1),
  ...points('exit', 'link', 2, 3),
  ...points('exit', 'rename', 4, 4),
]

/** Some of the points, from everywhere in the list. */
const spread = (all: readonly Point[], count: number) =>
  all.filter((_, at) => Math.floor(((at + 1) * count) / all.length) > Math.floor((at * count) / all.length))

async function killAt({ breaks, call, nth }: Point, release: NextRelease) {
  const server = await makeUpgradedServer(release, { beforeStop: '[ -e killed ] || send' })
  try {
    await server.start()
    const sent = [await server.send()]
    // Without a limit the new version takes the time that it needs.
    const more = breaks === '' ? [] : ['--ready-within', '4']
    // Without -f: only the upgrade itself dies, and no command that it runs.
    const log = join(server.folder, 'strace')
    const around = inject(call, `signal=KILL:when=${nth}`, log).filter((word) => word !== '-f')
    const first = await server.upgrade({ breaks, around, more })
    const wasKilled = first.exitCode === 137
    writeFileSync(join(server.folder, 'killed'), '')
    const started = await startsAgain(server)
    if (started === null && breaks === '') sent.push(await server.send())
    const before = await server.messages()
    let next = await server.upgrade({ breaks, more })
    if (/before it changed anything/.test(next.output)) next = await server.upgrade({ breaks, more })
    // The new version serves before the journal says that it goes back.
    const isNew = breaks === '' || (call === 'rename' && nth === 5)
    return {
      wasKilled,
      broken: [
        ...unless(started === null, String(started)),
        ...(await faultsOf(server, { isNew, next, kept: [...sent, ...before] })),
      ],
    }
  } finally {
    await server.close()
  }
}

async function startsAgain(server: UpgradedServer): Promise<string | null> {
  await server.start()
  const url = `http://127.0.0.1:${server.port}/healthz`
  return fetch(url).then(
    ({ status }) => (status === 200 ? null : `/healthz answers ${status}`),
    (error: unknown) => `the server does not start: ${error}`,
  )
}

async function faultsOf(
  server: UpgradedServer,
  { isNew, next, kept }: { isNew: boolean; next: { exitCode: number; output: string }; kept: string[] },
): Promise<string[]> {
  const [version, schema] = isNew ? [NEXT_VERSION, NEWEST_SCHEMA + 1] : [pkg.version, NEWEST_SCHEMA]
  const status = await server.postrider('status', '--json', '--config', join(server.folder, 'config.toml'))
  const { running, version: found } = JSON.parse(status.output)
  const lost = missingFrom(kept, new Set(await server.messages()))
  return [
    ...unless(next.exitCode === (isNew ? 0 : 1), `the next call ended with ${next.exitCode}: ${next.output}`),
    ...unless(running && found === version, `${found} runs, not ${version}: ${next.output}`),
    ...unless(server.schema() === schema, `the store has schema ${server.schema()}, not ${schema}`),
    ...unless(lost.length === 0, `${lost.length} messages lost`),
  ]
}
