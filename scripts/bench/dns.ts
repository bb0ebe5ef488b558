import { freePort } from '../../test/support/free-port.ts'
import { type Figure, median } from './figures.ts'
import type { Part } from './part.ts'
import { runProgram, sleep } from './process.ts'
import { openServer, type Server } from './server.ts'

/** Answers of the delegated zone over UDP, with and without a generator that asks as fast as it can; the generator has
 *  another processor. A binary without the zone fails. */
export const dns: Part = {
  name: 'dns',
  measure: async ({ scratch, note }, binary) => {
    const port = await freePort()
    const server = await openServer(binary.file, { scratch, delegated: { zone: ZONE, port } })
    const names = await namesOf(server)
    await sleep(1000) // the zone is loaded
    const idle = await latencyOf(server, 50)
    const before = server.cpuSeconds()
    let isOver = false
    const flood = runProgram<{ answersPerSecond: number; answered: number; lost: number }>(
      'dns',
      String(port),
      ...names,
    ).finally(() => {
      isOver = true
    })
    await sleep(500)
    const busy = isOver ? Number.NaN : await latencyOf(server, 50)
    const { answersPerSecond, answered, lost } = await flood
    note(binary, RATE, answersPerSecond)
    note(binary, PER_CORE, answered / (server.cpuSeconds() - before))
    note(binary, LOST, (lost / (answered + lost)) * 100)
    note(binary, DELAY, busy - idle)
    await server.stop()
  },
}

const ZONE = 'pm.bench.example'
const RATE: Figure = { what: 'DNS answers per second, DKIM keys over UDP', goal: { atLeast: 20_000 } }
const PER_CORE: Figure = { what: 'DNS answers per second of one core', goal: { atLeast: 20_000 } }
const LOST: Figure = { what: 'DNS questions without an answer', unit: '%' }
const DELAY: Figure = { what: 'API response later during a flood of DNS questions, median', unit: 'ms' }

// biome-ignore lint/suspicious/noExplicitAny: one list of records
const read = async ({ http, key }: Server, path: string): Promise<any> =>
  (await fetch(`http://${http}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()

/** Names in the zone of the DKIM keys of the domain. */
async function namesOf(server: Server): Promise<string[]> {
  const [domain] = (await read(server, '/v1/domains')).data
  const keys = domain.dns_records.filter(({ purpose }: { purpose: string }) => purpose === 'dkim')
  return keys.map(({ value }: { value: string }) => value)
}

async function latencyOf(server: Server, requests: number): Promise<number> {
  const took: number[] = []
  for (let n = 0; n < requests; n++) {
    const startedAt = performance.now()
    await read(server, '/v1/domains')
    took.push(performance.now() - startedAt)
  }
  return median(took)
}
