import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { until } from '../support/patience.ts'
import { run } from '../support/real-tools.ts'

/** A network of its own, which no packet enters or leaves: a bridge to which machines are connected, and a place for
 *  programs of the world around them. It is gone when its processes have ended. */
export interface Network {
  world: Addresses
  /** Words before a command that make it run in the place of the world: in this network, with its DNS. */
  inWorld: string[]
  /** Starts a program there, as root or another user. */
  start(command: string[], folder: string, user?: string): Daemon
  /** Runs a command there → its output, both streams. Rejects with it unless the exit code is 0. */
  must(command: string[], input?: string): Promise<string>
  /** Gives a network card with the addresses of `host` to a container, by its first process. */
  connect(leader: number, host: number): Promise<void>
  stop(): Promise<void>
}

export interface Addresses {
  v4: string
  v6: string
}

/** Addresses that Postrider takes for public: it sends no mail to those for documentation (RFC 5737, RFC 3849). */
export const addressesOf = (host: number): Addresses => ({ v4: `198.97.38.${host}`, v6: `3000::${host}` })
/** Further hosts of the world, beside the first. */
const HOSTS_OF_WORLD = [1, 4, 6]

export async function startNetwork(): Promise<Network> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-network-'))
  const world = addressesOf(1)
  writeFileSync(join(folder, 'resolv.conf'), `nameserver ${world.v4}\n`)
  const script = `mount --bind "${folder}/resolv.conf" /etc/resolv.conf && touch "${folder}/ready" && exec sleep infinity`
  const holder = startDaemon(['unshare', '--net', '--mount', 'sh', '-c', script], { folder })
  const stop = async () => {
    await holder.end('SIGKILL')
    rmSync(folder, { recursive: true })
  }
  try {
    await until('namespaces', () => {
      if (!holder.isRunning()) throw new Error(`no namespaces: ${holder.log()}`)
      return Bun.file(join(folder, 'ready')).exists()
    })
    const inWorld = ['nsenter', `--target=${holder.pid}`, '--net', '--mount']
    const must = async (command: string[], input = '') => {
      const { exitCode, output } = await run([...inWorld, ...command], { input })
      if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${command.join(' ')}\n${output}`)
      return output
    }
    const ip = (text: string) => must(['ip', ...text.split(' ')])
    for (const line of ['link set lo up', 'link add world type bridge', 'link set world up']) await ip(line)
    for (const { v4, v6 } of HOSTS_OF_WORLD.map(addressesOf)) {
      await ip(`addr add ${v4}/24 dev world`)
      await ip(`addr add ${v6}/64 dev world nodad`)
    }
    return {
      world,
      inWorld,
      start: (command, at, user) => {
        const asUser = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
        return startDaemon([...inWorld, ...asUser, ...command], { folder: at })
      },
      must,
      connect: async (leader, host) => {
        const { v4, v6 } = addressesOf(host)
        await ip(`link add to${host} type veth peer name eth0 netns ${leader}`)
        await ip(`link set to${host} master world up`)
        const ofMachine = ['nsenter', `--target=${leader}`, '--net', 'ip']
        for (const line of [
          'link set lo up',
          `addr add ${v4}/24 dev eth0`,
          `addr add ${v6}/64 dev eth0 nodad`,
          'link set eth0 up',
        ]) {
          const { exitCode, output } = await run([...ofMachine, ...line.split(' ')])
          if (exitCode !== 0) throw new Error(`ip ${line}: ${output}`)
        }
      },
      stop,
    }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}
