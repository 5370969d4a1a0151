/** Whether tables have no room: their rows are cards then. */
class Narrow {
  readonly #query = matchMedia('(max-width: 860px)')
  current = $state(this.#query.matches)

  constructor() {
    this.#query.addEventListener('change', ({ matches }) => (this.current = matches))
  }
}

export const narrow = new Narrow()
