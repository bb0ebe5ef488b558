/** First in, first out, at constant cost: `shift` of a long array moves every element. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #first = 0

  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: T): void {
    this.#items.push(item)
  }

  take(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first++] = undefined
    if (this.#first === this.#items.length) {
      this.#items = []
      this.#first = 0
    } else if (this.#first > 1024 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}
