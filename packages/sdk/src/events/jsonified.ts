/** The type of a value after serialisation to JSON and back, as for step results and event payloads. */

export type Jsonified<T> = unknown extends T
  ? T
  : T extends { toJSON(): infer Json }
    ? Jsonified<Json>
    : T extends string | number | boolean | null
      ? T
      : T extends bigint | symbol | ((...args: never[]) => unknown)
        ? never
        : T extends undefined
          ? null
          : T extends readonly unknown[]
            ? { -readonly [K in keyof T]: Jsonified<T[K]> }
            : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
              ? Record<string, never>
              : T extends object
                ? JsonifiedObject<T>
                : never;

type JsonifiedObject<T> = Flat<
  { [K in keyof T as Keeps<K, T[K]>]: Jsonified<T[K]> } & {
    [K in keyof T as MayDrop<K, T[K]>]?: Jsonified<Exclude<T[K], undefined>>;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

/** Functions and symbols are omitted from objects. */
type Dropped = symbol | ((...args: never[]) => unknown);
type Keeps<K, V> = K extends symbol ? never : unknown extends V ? K : undefined extends V ? never : [V] extends [Dropped] ? never : K;
type MayDrop<K, V> = K extends symbol ? never : unknown extends V ? never : undefined extends V ? K : never;

/** The result of a step: undefined becomes null. */
// biome-ignore lint/suspicious/noConfusingVoidType: what a body without a return yields
export type StepResult<T> = [T] extends [void] ? null : Jsonified<T>;
