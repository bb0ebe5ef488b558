import type { LayerEntry } from './layer.ts'

/** User and group of the program. */
export const USER = 10025

/** The folders of a system, with the links that programs expect. */
export const system: LayerEntry[] = [
  ...['run', 'usr/bin', 'usr/lib', 'usr/lib64'].map((path): LayerEntry => ({ path, type: 'folder' })),
  ...['bin', 'lib', 'lib64'].map((path): LayerEntry => ({ path, type: 'link', target: `usr/${path}` })),
  { path: 'etc/os-release', type: 'link', target: '../usr/lib/os-release' },
  text('etc/passwd', `root:x:0:0:root:/:/usr/sbin/nologin\npostrider:x:${USER}:${USER}::/:/usr/sbin/nologin\n`),
  text('etc/group', `root:x:0:\npostrider:x:${USER}:\n`),
  text('etc/nsswitch.conf', 'hosts: files dns\n'),
  { path: 'tmp', type: 'folder', mode: 0o1777 },
  { path: 'var/lib/postrider', type: 'folder', mode: 0o700, owner: USER },
]

/** Linux's `struct vfs_cap_data`, version 2, with CAP_NET_BIND_SERVICE (bit 10) permitted and effective: ports below 1024
 *  without root. Source: capabilities(7) and linux/capability.h. */
const BIND_LOW_PORTS = Buffer.from('0100000200040000000000000000000000000000', 'hex')

/** Program and licence → the layer that every release changes. */
export const programLayer = (program: Uint8Array, licence: string): LayerEntry[] => [
  {
    path: 'usr/bin/postrider',
    type: 'file',
    content: program,
    mode: 0o755,
    attributes: { 'security.capability': BIND_LOW_PORTS },
  },
  text('usr/share/doc/postrider/copyright', licence),
]

function text(path: string, content: string): LayerEntry {
  return { path, type: 'file', content: Buffer.from(content) }
}
