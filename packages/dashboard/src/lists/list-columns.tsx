/** The column titles above a list whose rows are a grid. They stay in view. */

export function ListColumns({ className, titles }: { className: string; titles: readonly string[] }) {
  return (
    <div className={`list-columns ${className}`}>
      {titles.map((title) => (
        <span key={title}>{title}</span>
      ))}
    </div>
  );
}
