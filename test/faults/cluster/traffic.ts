import type { Socket } from 'node:net'
import type { Sink, SinkTraffic } from '../setup.ts'

/** A sink on all addresses of loopback, with the traffic of each node to each destination. */
export type ClusterSink = Sink & Traffic

export interface Traffic extends SinkTraffic {
  /** Token → the times of its copies, by performance.now(). */
  times: Map<string, number[]>
  /** Address of a destination → the times when a mail came there, in order. */
  cameTo: Map<string, number[]>
  /** Most transactions at once with one destination, of all nodes together. Those of nodes that stand still are left
   *  out: they end when the node continues, whatever the others do. */
  most(): number
  /** A node, by its source address, stands still: its transactions under way no longer count, nor those that it began before
   *  and of which the sink has not read yet, until `thaw`. */
  freeze(source: string): void
  thaw(source: string): void
}

export function createTraffic(): Traffic {
  const times = new Map<string, number[]>()
  const cameTo = new Map<string, number[]>()
  /** Destination → the sockets with a transaction under way. */
  const underWay = new Map<string, Set<Socket>>()
  const frozen = new Set<string>()
  let most = 0
  return {
    times,
    cameTo,
    began: (socket) => {
      if (frozen.has(socket.remoteAddress ?? '')) return
      const open = underWay.getOrInsertComputed(socket.localAddress ?? '', () => new Set())
      open.add(socket)
      most = Math.max(most, open.size)
    },
    ended: (socket) => {
      for (const open of underWay.values()) open.delete(socket)
    },
    came: (token, socket) => {
      const at = performance.now()
      times.getOrInsertComputed(token, () => []).push(at)
      cameTo.getOrInsertComputed(socket.localAddress ?? '', () => []).push(at)
    },
    most: () => most,
    freeze: (source) => {
      frozen.add(source)
      for (const open of underWay.values()) {
        for (const socket of open) if (socket.remoteAddress === source) open.delete(socket)
      }
    },
    thaw: (source) => void frozen.delete(source),
  }
}
