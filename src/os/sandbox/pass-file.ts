import { FFIType } from 'bun:ffi'
import { openLibc } from '../libc.ts'
import { pinned } from './kernel.ts'

/** Creates a socket pair whose ends are closed on exec, so that a child gets only what it is given. Throws if there
 *  are no descriptors left. socketpair(2) */
export function socketPair(): [ours: number, theirs: number] {
  const { hold, address } = pinned(new Uint8Array(8))
  if (calls().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, address) !== 0) {
    throw new Error('cannot create a socket pair')
  }
  return [hold.readInt32LE(0), hold.readInt32LE(4)]
}

/** Closes a descriptor that the runtime does not manage. */
export function closeDescriptor(fd: number): void {
  calls().close(fd)
}

/** Sends a descriptor through `socket`; the other end receives its own descriptor of the same open file. Never
 *  waits: throws if it cannot be sent now. unix(7), cmsg(3) */
export function sendDescriptor(socket: number, fd: number): void {
  const message = messageOf()
  message.hold.writeBigUInt64LE(20n, CONTROL) // struct cmsghdr {length, level, type}
  message.hold.writeInt32LE(SOL_SOCKET, CONTROL + 8)
  message.hold.writeInt32LE(SCM_RIGHTS, CONTROL + 12)
  message.hold.writeInt32LE(fd, CONTROL + 16)
  if (Number(calls().sendmsg(socket, message.address, MSG_DONTWAIT | MSG_NOSIGNAL)) !== 1) {
    throw new Error('cannot pass the descriptor')
  }
}

/** Receives the next descriptor sent to `socket`. Never waits: throws if there is none. */
export function receiveDescriptor(socket: number): number {
  const message = messageOf()
  const received = Number(calls().recvmsg(socket, message.address, MSG_DONTWAIT))
  if (received !== 1 || message.hold.readInt32LE(CONTROL + 12) !== SCM_RIGHTS) throw new Error('no descriptor received')
  return message.hold.readInt32LE(CONTROL + 16)
}

/** A struct msghdr with one byte of data and space for one descriptor, all in one buffer. */
function messageOf() {
  const pin = pinned(new Uint8Array(256))
  const { hold, address } = pin
  hold.writeBigUInt64LE(BigInt(address + VECTOR), 16) // msg_iov
  hold.writeBigUInt64LE(1n, 24)
  hold.writeBigUInt64LE(BigInt(address + CONTROL), 32) // msg_control
  hold.writeBigUInt64LE(24n, 40) // CMSG_SPACE(sizeof(int))
  hold.writeBigUInt64LE(BigInt(address + DATA), VECTOR)
  hold.writeBigUInt64LE(1n, VECTOR + 8)
  return pin
}

let opened: ReturnType<typeof load> | null = null
const calls = () => (opened ??= load())

/** Loads the C library now, because a confined process cannot. */
export function preparePassing(): void {
  calls()
  messageOf()
}

function load() {
  const { i32, i64 } = FFIType
  return openLibc({
    socketpair: { args: [i32, i32, i32, FFIType.ptr], returns: i32 },
    close: { args: [i32], returns: i32 },
    sendmsg: { args: [i32, FFIType.ptr, i32], returns: i64 },
    recvmsg: { args: [i32, FFIType.ptr, i32], returns: i64 },
  }).symbols
}

const [VECTOR, CONTROL, DATA] = [64, 96, 128]
const AF_UNIX = 1
const SOCK_STREAM = 1
const SOCK_CLOEXEC = 0o2000000
const SOL_SOCKET = 1
const SCM_RIGHTS = 1
const MSG_DONTWAIT = 0x40
const MSG_NOSIGNAL = 0x4000
