import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** An attacker in a process of its own at the lowest priority: real ones bring their own processors. */
export interface Attacker {
  /** Ends it; → what it counted, as it words it. */
  stop(): Promise<string>
}

/** A file of this folder and its parameters → the attacker at work. Rejects when it ends at once. */
export async function startAttacker(
  file: 'stranger-load.ts' | 'tenant-load.ts',
  parameters: object,
): Promise<Attacker> {
  const child: ChildProcess = spawn(
    'nice',
    ['-n', '19', process.execPath, join(import.meta.dir, file), JSON.stringify(parameters)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.done) throw new Error(`${file} did not start`)
  return {
    stop: async () => {
      child.stdin!.end()
      const last = await lines.next()
      child.kill('SIGKILL')
      return String(last.value ?? 'it died')
    },
  }
}

/** Inside the process: says that it has begun, and at the end of standard input what it counted. */
export function attackUntilTold(counts: Record<string, number>): void {
  console.log('begun')
  process.stdin.on('end', () => {
    const words = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
    console.log(words.join(', '))
    process.exit(0)
  })
  process.stdin.resume()
}

/** Does `work` again and again, `width` at a time, for ever. What it throws is an answer too. */
export function forever(width: number, work: (n: number) => Promise<unknown>): void {
  let n = 0
  for (let lane = 0; lane < width; lane++) {
    void (async () => {
      for (;;) {
        const beganAt = performance.now()
        await work(n++).catch(() => {})
        if (performance.now() - beganAt < 5) await Bun.sleep(5)
      }
    })()
  }
}
