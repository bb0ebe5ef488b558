import { bodies } from './bodies.ts'
import { type Figure, median } from './figures.ts'
import type { Bench, Part } from './part.ts'
import { load, startSink } from './peers.ts'
import { until } from './process.ts'
import { openServer } from './server.ts'

/** End to end with eight sending addresses, as a share of one. */
export const addresses: Part = {
  name: 'addresses',
  measure: async (bench, binary) => {
    if (binary.name === 'against') return
    const { rate, cpu } = await compare(bench, { file: binary.file, addresses: 8 }, { file: binary.file, addresses: 1 })
    bench.note(binary, EIGHT, rate)
    bench.note(binary, EIGHT_CPU, cpu)
  },
}

/** End to end with one sending address, as a share of the binary of `--against`: its ratio in `send` compares loads that
 *  are a minute apart, this one loads that are a second apart. */
export const paired: Part = {
  name: 'paired',
  measure: async (bench, binary) => {
    if (binary.name === 'against' || bench.against === null) return
    const { rate, cpu } = await compare(
      bench,
      { file: binary.file, addresses: 0 },
      { file: bench.against, addresses: 0 },
    )
    bench.note(binary, PAIRED, rate)
    bench.note(binary, PAIRED_CPU, cpu)
  },
}

const EIGHT: Figure = { what: 'sent per second with eight sending addresses, share of one', goal: { atLeast: 0.9 } }
const EIGHT_CPU: Figure = { what: 'CPU of a mail with eight sending addresses, share of one' }
const PAIRED: Figure = { what: 'sent per second, share of the binary of --against' }
const PAIRED_CPU: Figure = { what: 'CPU of a mail, share of the binary of --against' }

/** A binary with that many sending addresses; 0: the system chooses. */
interface Side {
  file: string
  addresses: number
}

/** Both servers run at the same time and send in turn, in short stretches, so that a slow minute of the machine falls on
 *  both → mails per second and CPU of a mail of the first, as shares of the second: medians of the stretches. */
async function compare(bench: Bench, first: Side, second: Side): Promise<{ rate: number; cpu: number }> {
  const [a, b] = [await open(bench, first), await open(bench, second)]
  try {
    const rates: number[] = []
    const cpus: number[] = []
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const sent = { a: await a.send(bench.messages / STRETCHES), b: await b.send(bench.messages / STRETCHES) }
      rates.push(sent.a.perSecond / sent.b.perSecond)
      cpus.push(sent.a.cpuMs / sent.b.cpuMs)
    }
    return { rate: median(rates), cpu: median(cpus) }
  } finally {
    await a.end()
    await b.end()
  }
}

const STRETCHES = 20
/** Until the runtime has compiled the hot code. */
const WARM_UP = 4_000

/** `send` takes the mails from the request to the sink. */
async function open({ scratch }: Bench, { file, addresses }: Side) {
  const sink = await startSink()
  const own = Array.from({ length: addresses }, (_, at) => `127.0.0.${at + 1}`)
  const server = await openServer(file, { scratch, sinkPort: sink.port, addresses: own })
  const mail = bodies.mail(scratch)
  let mails = 0
  const send = async (more: number) => {
    mails += more
    const cpuBefore = server.cpuSeconds()
    const startedAt = performance.now()
    await load(server, 20, more, mail)
    await until(async () => (await sink.mails()) === mails)
    const seconds = (performance.now() - startedAt) / 1000
    return { perSecond: more / seconds, cpuMs: ((server.cpuSeconds() - cpuBefore) / more) * 1000 }
  }
  await send(WARM_UP)
  const end = async () => {
    await server.stop()
    sink.end()
  }
  return { send, end }
}
