import { createFrameReader, encodeFrame } from './frames.ts'

/** One end of a message channel over a socket to another process, in order. */
export interface Channel {
  /** Sends a message; it has left when this returns, unless the other end reads too slowly. Throws if the message is
   *  too large or a descriptor in it cannot be passed; then nothing was sent. */
  send(message: unknown): void
  /** Buffered bytes, because the other end reads too slowly. */
  waitingBytes(): number
  close(): void
  /** Resolves when the channel is open; messages sent before are buffered. Never rejects: a channel that cannot be
   *  opened ends. */
  readonly opened: Promise<void>
}

/** Creates a channel on `fd`, one end of a socket pair, and owns it from now on. `onEnd` is called once, with a
 *  reason if the other end violated the protocol. */
export function openChannel(options: {
  fd: number
  /** Size limit of one incoming message, in bytes. */
  maxBytes: number
  onMessage: (message: unknown) => void
  onEnd: (reason: string) => void
  /** Passes a descriptor before the message that refers to it. */
  sendFile?: (fd: number) => void
  takeFile?: () => number
  /** As in createFrameReader. */
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
    for (let piece = waiting[0]; piece !== undefined && !ended; piece = waiting[0]) {
      const written = socket.write(piece)
      if (written < 0) return end(CHANNEL_CLOSED)
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
      close: () => end(CHANNEL_CLOSED),
      error: (_: unknown, error: Error) => end(error.message),
    },
  }
  // The runtime accepts a descriptor here, but its types do not.
  const opened = Bun.connect(open as unknown as Bun.TCPSocketConnectOptions<undefined>).then(
    (connected) => {
      socket = connected as unknown as Bun.Socket
      if (ended) socket.terminate()
      flush()
    },
    () => end('the channel could not be opened'),
  )

  return {
    opened,
    send: (message) => {
      if (ended) return
      const { pieces, bytes, files } = encodeFrame(message)
      for (const fd of files) options.sendFile?.(fd)
      const [first] = pieces
      const isWhole = first !== undefined && pieces.length === 1
      if (bytes <= JOINED_BYTES) waiting.push(isWhole ? first : Buffer.concat(pieces))
      else waiting.push(...pieces.filter(({ length }) => length > 0))
      waitingBytes += bytes
      flush()
    },
    waitingBytes: () => waitingBytes,
    close: () => end('the channel was closed'),
  }
}

/** The other end closed it, most likely because its process ended. */
export const CHANNEL_CLOSED = 'the channel is closed'

/** Smaller messages are combined into one write: copying costs less than a system call. */
const JOINED_BYTES = 65_536
