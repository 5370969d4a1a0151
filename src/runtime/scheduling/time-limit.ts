/** Resolves to the result of a promise, or to `undefined` when it fails or takes longer than `limitMs`. */
export const resultWithin = <Result>(limitMs: number, work: Promise<Result>): Promise<Result | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs)
    work.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer))
  })
