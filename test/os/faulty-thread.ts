import { StringDecoder } from 'node:string_decoder'

/** Loaded into a thread before its own code: some calls of the runtime then throw for the text "poison". It stands for bugs
 *  that are not known yet. */

const { endsWith } = String.prototype
String.prototype.endsWith = function (...args) {
  if (this.includes('poison')) throw new Error('a bug in an answer')
  return endsWith.apply(this, args)
}

const { write } = StringDecoder.prototype
StringDecoder.prototype.write = function (bytes) {
  if (String(bytes).includes('poison')) throw new Error('a bug in an event')
  return write.call(this, bytes)
}

const { substring } = String.prototype
String.prototype.substring = function (...args) {
  if (this.includes('poison')) throw new TypeError('a bug in a library')
  return substring.apply(this, args)
}
