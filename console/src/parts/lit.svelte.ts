/** The address under the pointer or the focus: every place that shows it is lit. */
export const lit = $state({ address: '' })
