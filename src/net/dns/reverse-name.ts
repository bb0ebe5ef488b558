import ipaddr from 'ipaddr.js'

/** Address → its bytes (IPv4) or nibbles (IPv6) in reverse order, as the labels before in-addr.arpa, ip6.arpa and
 *  blocklist zones. A mapped address counts as IPv4. RFC 1035 §3.5, RFC 3596 §2.5, RFC 5782 §2 */
export function reverseLabels(ip: string): string {
  const [unzoned = ''] = ip.split('%', 1)
  const address = ipaddr.process(unzoned)
  const bytes = address.toByteArray()
  if (address.kind() === 'ipv4') return bytes.reverse().join('.')
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).reverse()
  return nibbles.map((nibble) => nibble.toString(16)).join('.')
}

/** Address → the name of its PTR record. */
export function reverseName(ip: string): string {
  const labels = reverseLabels(ip)
  return labels.split('.').length === 4 ? `${labels}.in-addr.arpa` : `${labels}.ip6.arpa`
}
