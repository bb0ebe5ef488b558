import { exitOf, makeCrashable } from '../../test/crash/setup.ts'
import { look } from './ask.ts'
import { type Fault, unless } from './fault.ts'
import { residentMb } from './process.ts'

const BODY_BYTES = 24_000_000
const MOST_MB = 768
const MOST_MS = 500
const TRIES = 10

/** Large requests, all at once: taken, or told to come again, in bounded memory, and nobody else waits for them. */
export const bodies: Fault = {
  name: 'bodies',
  needs: [],
  rounds: { long: 50, short: 8 },
  run: async ({ rounds: count, program }) => {
    const world = await makeCrashable({ program })
    try {
      const house = await world.serve()
      const content = 'QUJD'.repeat(BODY_BYTES / 4)
      const attachments = [{ filename: 'a.bin', content, content_type: 'application/octet-stream' }]
      // To nowhere: who counts the time here must not be busy with taking the mail in.
      const mail = Buffer.from(
        JSON.stringify({
          from: 'us@example.com',
          to: 'you@nowhere.example',
          subject: 's',
          text: 't',
          attachments,
        }),
      )
      const taken: number[] = []
      const others = new Set<number>()
      let came = 0
      let told = 0
      const post = async () => {
        for (let tries = 0; tries < TRIES; tries++) {
          const { status } = await fetch(`http://127.0.0.1:${world.port}/v1/send`, {
            method: 'POST',
            headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
            body: mail,
          })
          if (status === 202) return taken.push(status)
          if (status !== 503) return others.add(status)
          told++
          await Bun.sleep(5_000)
        }
      }
      let mb = 0
      const looks: number[] = []
      const all = Promise.all(Array.from({ length: count }, () => post().finally(() => came++)))
      while (came < count) {
        looks.push((await look(world, '/healthz')).ms)
        mb = Math.max(mb, residentMb(house.pid!))
        await Bun.sleep(20)
      }
      await all
      house.kill('SIGTERM')
      const code = await exitOf(house)
      looks.sort((a, b) => a - b)
      const p99 = looks[Math.floor(looks.length * 0.99)]!
      return {
        figures: `${count} of ${BODY_BYTES / 1e6} MB: ${taken.length} taken, ${told} told to come again; resident ${mb.toFixed(0)} MB at most; others meanwhile p99 ${p99.toFixed(0)} ms, ${looks.at(-1)!.toFixed(0)} ms at most`,
        broken: [
          ...unless(taken.length === count, `all are taken in the end; other answers: ${[...others]}`),
          ...unless(mb <= MOST_MB, `at most ${MOST_MB} MB`),
          ...unless(p99 <= MOST_MS, `others within ${MOST_MS} ms`),
          ...unless(code === 0, 'it ends well'),
        ],
      }
    } finally {
      await world.close()
    }
  },
}
