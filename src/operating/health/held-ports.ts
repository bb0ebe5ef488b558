import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { fileText } from '../../os/file-text.ts'
import type { HeldPort } from './deps.ts'

/** Process file system → every listening TCP port with its process. Only root can see processes of other users.
 *  Without such a directory: []. Never throws. proc_net(5), proc_pid_fd(5) */
export function heldPorts(proc: string): HeldPort[] {
  const listening = ['net/tcp', 'net/tcp6'].flatMap((file) => listeningIn(fileText(join(proc, file))))
  const holders = listening.length === 0 ? new Map<string, Holder>() : holdersOf(listening, proc)
  return listening.map(({ host, port, inode }) => ({ host, port, holder: holders.get(inode) ?? null }))
}

type Holder = NonNullable<HeldPort['holder']>
interface Listening {
  host: string
  port: number
  inode: string
}

const LISTEN = '0A'

function listeningIn(table: string): Listening[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    const [address = '', port = ''] = local.split(':')
    return state === LISTEN ? [{ host: addressOf(address), port: Number.parseInt(port, 16), inode }] : []
  })
}

/** Words of four bytes in machine order, which is little-endian. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].reverse())
  return ipaddr.fromByteArray(bytes).toString()
}

function holdersOf(listening: readonly Listening[], proc: string): Map<string, Holder> {
  const wanted = new Set(listening.map(({ inode }) => inode))
  const holders = new Map<string, Holder>()
  for (const pid of namesIn(proc).filter((name) => /^\d+$/.test(name))) {
    for (const fd of namesIn(join(proc, pid, 'fd'))) {
      const inode = /^socket:\[(\d+)\]$/.exec(targetOf(join(proc, pid, 'fd', fd)))?.[1]
      if (inode === undefined || !wanted.has(inode) || holders.has(inode)) continue
      holders.set(inode, { pid: Number(pid), name: fileText(join(proc, pid, 'comm')).trim() })
    }
  }
  return holders
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // another user's process, or one that has just ended
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
