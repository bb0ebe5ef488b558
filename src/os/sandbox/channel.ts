import { createFrameReader, encodeFrame } from './frames.ts'

/** Messages over a socket to another process, in order; at either end. */
export interface Channel {
  /** Has left when it returns, unless the other end is behind with reading. Throws when the message is too large, or a
   *  descriptor in it cannot be passed: then nothing is sent. */
  send(message: unknown): void
  /** Bytes that wait because the other end is behind. */
  waitingBytes(): number
  close(): void
  /** What is sent before waits. Never rejects: a channel that cannot be opened ends. */
  readonly opened: Promise<void>
}

/** `fd`: one end of a socket pair, which belongs to the channel from now on. `onEnd` is called once, with the reason when
 *  the other end broke the form. */
export function openChannel(options: {
  fd: number
  /** Of one message that comes in. */
  maxBytes: number
  onMessage: (message: unknown) => void
  onEnd: (reason: string) => void
  /** Passes a descriptor before the message that speaks of it. */
  sendFile?: (fd: number) => void
  takeFile?: () => number
  /** As of createFrameReader. */
  onFrame?: (totalBytes: number, jsonBytes: number) => void
}): Channel {
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let ended = false
  let socket: Bun.Socket | null = null
  const read = createFrameReader(options)

  const end = (reason: string) => {
    if (ended) return
    ended = true
    waiting.length = 0
    socket?.terminate()
    options.onEnd(reason)
  }
  const flush = () => {
    if (socket === null) return
    while (waiting.length > 0 && !ended) {
      const piece = waiting[0]!
      const written = socket.write(piece)
      if (written < 0) return end('the channel is closed')
      waitingBytes -= written
      if (written < piece.length) {
        waiting[0] = piece.subarray(written)
        return
      }
      waiting.shift()
    }
  }
  const open = {
    fd: options.fd,
    socket: {
      data: (_: unknown, piece: Uint8Array) => {
        if (ended) return
        try {
          read(piece)
        } catch (error) {
          end(error instanceof Error ? error.message : String(error))
        }
      },
      drain: flush,
      close: () => end('the channel is closed'),
      error: (_: unknown, error: Error) => end(error.message),
    },
  }
  // The runtime connects a descriptor, but its types do not say so.
  const opened = Bun.connect(open as unknown as Bun.TCPSocketConnectOptions<undefined>).then(
    (connected) => {
      socket = connected as unknown as Bun.Socket
      if (ended) socket.terminate()
      flush()
    },
    () => end('its channel could not be opened'),
  )

  return {
    opened,
    send: (message) => {
      if (ended) return
      const { pieces, bytes, files } = encodeFrame(message)
      for (const fd of files) options.sendFile?.(fd)
      if (bytes <= JOINED_BYTES) waiting.push(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
      else waiting.push(...pieces.filter(({ length }) => length > 0))
      waitingBytes += bytes
      flush()
    },
    waitingBytes: () => waitingBytes,
    close: () => end('it was closed'),
  }
}

/** Smaller messages are one write: copying them costs less than a system call. */
const JOINED_BYTES = 65_536
